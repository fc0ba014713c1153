import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { chatToChat } from '#shared/translate/same-format/chat-to-chat.ts';
import { completionsToCompletions } from '#shared/translate/same-format/completions-to-completions.ts';
import { messagesToChat } from '#shared/translate/messages-chat/messages-to-chat.ts';
import { responsesToChat } from '#shared/translate/responses-chat/responses-to-chat.ts';
import type { Translation } from '#shared/translate/translation.ts';
import { ContinuedStream } from '#shared/upstream/continuation/continued-stream.ts';
import { chatText, completionText, type UpstreamText } from '#shared/upstream/continuation/upstream-text.ts';

const answerContext = { id: 'answer-1', model: 'm', created: 5, now: () => 6, promptTokens: () => 3 };
const usage = { prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 };

type Kind = [string, Translation, UpstreamText, boolean];
const chat: Kind = ['chat', chatToChat, chatText, false];
const responses: Kind = ['responses', responsesToChat, chatText, true];
const kinds: Kind[] = [
  chat,
  responses,
  ['messages', messagesToChat, chatText, false],
  ['completions', completionsToCompletions, completionText, false],
];

const content = (text: UpstreamText, pieces: readonly string[]): string[] => [
  ...(text.openingEvent === undefined ? [] : [text.openingEvent]),
  ...pieces.map((piece) => text.writeTextEvent(piece)),
];

/** A stream that continues another one; its usage counts 2 tokens before it. */
function continued(
  [, { createStream: stream }, text, isNumbered]: Kind,
  { pieces, events, again = '' }: { pieces: string[]; events: number; again?: string },
): ContinuedStream {
  const relayed = isNumbered ? { pieces, events } : { pieces: [pieces.join('')] };
  const counted = (reported: JsonObject) => ({ ...reported, ...usage });
  return new ContinuedStream({
    translation: stream(answerContext),
    upstreamText: text,
    relayed,
    repeatedText: again,
    computeUsage: counted,
  });
}

describe.each(kinds)('a continued stream of the format %s', (...kind) => {
  const [, { createStream: stream }, text] = kind;

  it("equals, with the client's part, the uncut stream, wherever it is cut", () => {
    const pieces = ['Über', ' all', ' ', '👩‍👩‍👧 ', 'gardens', '\n\n', 'grow'];
    const uncut = stream(answerContext);
    const whole = content(text, pieces).map((data) => uncut.translateEvent(data));
    const end = uncut.translateEvent(text.writeEndingEvent('stop', usage)) + uncut.translateEnd().text;
    for (let cut = 1; cut < pieces.length; cut += 1) {
      const sent = whole.slice(0, whole.length - pieces.length + cut).join('');
      const events = sent.split('\n\n').length - 1;
      const rest = continued(kind, { pieces: pieces.slice(0, cut), events });
      const more = content(text, pieces.slice(cut)).map((data) => rest.translateEvent(data));
      const last =
        rest.translateEvent(text.writeEndingEvent('stop', { prompt_tokens: 5, completion_tokens: 7 })) +
        rest.translateEnd().text;
      expect(sent + more.join('') + last).toBe(whole.join('') + end);
    }
  });

  it('drops the repeated text, in whatever pieces', () => {
    for (const pieces of [[' \n\nso'], [' ', '\n', '\nso'], [' \n', '\n', 'so'], ['', ' \n\n', 'so']]) {
      const rest = continued(kind, { pieces: ['Well,', ' \n\n'], events: 6, again: ' \n\n' });
      const written = content(text, pieces).map((data) => rest.translateEvent(data));
      expect(JSON.stringify(written)).not.toMatch(/\\\\n/);
      expect(written.join('').match(/"so"/g)).toHaveLength(1);
    }
  });

  it.each([
    ['other', 'So'],
    ['half', ' \n'],
    ['longer', ' \n so'],
  ])('ends with an error if %s text comes in its place', (_, piece) => {
    const rest = continued(kind, { pieces: ['Well,', ' \n\n'], events: 6, again: ' \n\n' });
    const read = () => {
      for (const data of content(text, [piece])) rest.translateEvent(data);
      rest.translateEvent(text.writeEndingEvent('stop', usage));
      rest.translateEnd();
    };
    expect(read).toThrow(expect.objectContaining({ failure: 'mismatch' }));
  });
});

it('a continued stream ends with an error if the model starts to think again', () => {
  const rest = continued(chat, { pieces: ['Well'], events: 0 });
  const thinking = JSON.stringify({ choices: [{ index: 0, delta: { reasoning_content: 'Hm' } }] });
  expect(() => rest.translateEvent(thinking)).toThrow(expect.objectContaining({ failure: 'mismatch' }));
});

it('a continued stream passes a tool call that follows on the text', () => {
  const rest = continued(chat, { pieces: ['Well'], events: 0 });
  const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
  expect(rest.translateEvent(JSON.stringify({ choices: [{ index: 0, delta: { tool_calls: [call] } }] }))).toContain(
    '"look"',
  );
});

it('a continued stream is not begun if its events would have other numbers', () => {
  expect(() => continued(responses, { pieces: ['a', 'b'], events: 7 })).toThrow('numbered otherwise');
});
