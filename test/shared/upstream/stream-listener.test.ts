import { expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { chatToChat } from '#shared/translate/chat-chat/chat-to-chat.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { StreamListener } from '#shared/upstream/stream-listener.ts';

const minted = { id: 'id_1', model: 'm', created: 1, promptTokens: () => 7 };

function openStream(): { listener: StreamListener; pieces: string[] } {
  const pieces: string[] = [];
  const listener = new StreamListener(chatUpstream, chatToChat.stream(minted), (text) => void pieces.push(text));
  listener.onStart(200, { 'content-type': 'text/event-stream' });
  return { listener, pieces };
}

function event(delta: object): string {
  return `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
}

/** The texts of the events in a piece. */
function textsOf(piece: string | undefined): unknown[] {
  const lines = piece?.match(/^data: .*$/gm) ?? [];
  return lines.map((line) => (JSON.parse(line.slice(6)) as { choices: [{ delta: object }] }).choices[0].delta);
}

it('events that arrive together are one piece, with the role in front of the first text', () => {
  const { listener, pieces } = openStream();
  const opening = event({ role: 'assistant', content: '' });
  expect(listener.onData(Buffer.from(opening))).toBe('nothing');
  expect(pieces).toEqual([]);
  const texts = ['a', 'b', 'c'].map((content) => event({ content }));
  expect(listener.onData(Buffer.from(texts.join('')))).toBe('more');
  expect(pieces.map(textsOf)).toEqual([
    [{ role: 'assistant', content: '' }, { content: 'a' }, { content: 'b' }, { content: 'c' }],
  ]);
  listener.onData(Buffer.from(event({ content: 'd' })));
  expect(textsOf(pieces[1])).toEqual([{ content: 'd' }]);
});

it('what arrives before an error in the same bytes is written', () => {
  const { listener, pieces } = openStream();
  const failure = `data: ${JSON.stringify({ error: { message: 'out of memory' } })}\n\n`;
  const bytes = Buffer.from(`${event({ content: 'a' })}${event({ content: 'b' })}${failure}${event({ content: 'c' })}`);
  expect(() => listener.onData(bytes)).toThrow(RouterError);
  expect(pieces.flatMap(textsOf)).toEqual([{ role: 'assistant', content: 'a' }, { content: 'b' }]);
});
