import { expect, it } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { chatToChat } from '#shared/translate/same-format/chat-to-chat.ts';
import { chatToMessages } from '#shared/translate/chat-messages/chat-to-messages.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { messagesUpstream } from '#shared/translate/upstreams/messages/messages-upstream.ts';
import { StreamListener } from '#shared/upstream/stream-listener.ts';

const answerContext = { id: 'id_1', model: 'm', created: 1, promptTokens: () => 7 };

function openStream({ upstream = chatUpstream, translation = chatToChat.createStream(answerContext) } = {}) {
  const pieces: string[] = [];
  const listener = new StreamListener(upstream, translation, (text) => void pieces.push(text));
  listener.onStart(200, { 'content-type': 'text/event-stream' });
  const read = (bytes: string) => listener.onData(Buffer.from(bytes));
  return { listener, pieces, read };
}

function event(delta: object, finish_reason: string | null = null, index = 0): string {
  return `data: ${JSON.stringify({ choices: [{ index, delta, finish_reason }] })}\n\n`;
}

/** The texts of the events in a piece. */
function textsOf(piece: string | undefined): unknown[] {
  const lines = piece?.match(/^data: .*$/gm) ?? [];
  return lines.map((line) => (JSON.parse(line.slice(6)) as { choices: [{ delta: object }] }).choices[0].delta);
}

it('events that arrive together are one piece, with the role in front of the first text', () => {
  const { read, pieces } = openStream();
  expect(read(event({ role: 'assistant', content: '' }))).toBe('nothing');
  expect(pieces).toEqual([]);
  expect(read(['a', 'b', 'c'].map((content) => event({ content })).join(''))).toBe('more');
  expect(pieces.map(textsOf)).toEqual([
    [{ role: 'assistant', content: '' }, { content: 'a' }, { content: 'b' }, { content: 'c' }],
  ]);
  read(event({ content: 'd' }));
  expect(textsOf(pieces[1])).toEqual([{ content: 'd' }]);
});

it('a stream is finished by the reason why it ends, whatever comes then, and not before each choice has one', () => {
  const { listener, read } = openStream();
  const progress = [event({ content: 'a' }), event({}, 'stop'), ': alive\n\n'].map(read);
  expect(progress).toEqual(['more', 'finished', 'nothing']);
  const usage = { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } };
  expect(read(`data: ${JSON.stringify(usage)}\n\n`)).toBe('finished');
  expect(listener.end()).toMatchObject({ finishReason: 'stop', usage: { promptTokens: 1, completionTokens: 1 } });
  const two = openStream({ translation: chatToChat.createStream({ ...answerContext, recalled: { n: 2 } }) });
  const ends = [event({ content: 'a' }, 'stop'), event({ content: 'b' }, 'stop', 1)];
  expect(ends.map(two.read)).toEqual(['more', 'finished']);
});

it('a stream is not finished by an empty reason, nor by one that comes with each piece of a continuing stream', () => {
  const empty = [event({ content: 'a' }, ''), event({ content: 'b' }, '')];
  expect(empty.map(openStream().read)).toEqual(['more', 'more']);
  const pieces = ['a', 'b', 'c'].map((content) => event({ content }, 'stop'));
  expect(pieces.map((piece) => openStream().read(piece))).toEqual(['finished', 'finished', 'finished']);
  expect(pieces.map(openStream().read)).toEqual(['finished', 'more', 'more']);
});

it('a ping of a messages upstream does not count as progress', () => {
  const { read } = openStream({ upstream: messagesUpstream, translation: chatToMessages.createStream(answerContext) });
  const progress = (data: object) => read(`data: ${JSON.stringify(data)}\n\n`);
  const delta = { type: 'text_delta', text: 'a' };
  expect(
    [
      { type: 'message_start', message: { usage: { input_tokens: 1 } } },
      { type: 'ping' },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'ping' },
      { type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 1 } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'ping' },
      { type: 'message_stop' },
    ].map(progress),
  ).toEqual(['nothing', 'nothing', 'nothing', 'more', 'nothing', 'more', 'finished', 'nothing', 'complete']);
});

it('what arrives before an error in the same bytes is written', () => {
  const { read, pieces } = openStream();
  const failure = `data: ${JSON.stringify({ error: { message: 'out of memory' } })}\n\n`;
  const [a, b, c] = ['a', 'b', 'c'].map((content) => event({ content }));
  expect(() => read(`${a}${b}${failure}${c}`)).toThrow(RouterError);
  expect(pieces.flatMap(textsOf)).toEqual([{ role: 'assistant', content: 'a' }, { content: 'b' }]);
});
