import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import type { AnswerContext } from '#shared/translate/translation.ts';
import { messagesToChat } from '#shared/translate/messages-chat/messages-to-chat.ts';
import { messagesToMessages } from '#shared/translate/same-format/messages-to-messages.ts';
import { assembleMessage } from '../assemble-message.ts';
import { runStream } from '../run-stream.ts';
import { messageBlock, messageEnd, messageStart } from '../upstream-streams.ts';

const thinking = { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' };
const redacted = { type: 'redacted_thinking', data: 'ZGF0YQ==' };
const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} };
const content = [thinking, redacted, call];
const usage = { input_tokens: 3, output_tokens: 1 };
const user = { role: 'user', content: 'hi' };

const deltas = [
  { type: 'thinking_delta', thinking: 'Hm.' },
  ...['c2ln', 'bmVk'].map((signature) => ({ type: 'signature_delta', signature })),
];
const events: JsonObject[] = [
  messageStart,
  ...messageBlock(0, { type: 'thinking', thinking: '', signature: '' }, ...deltas),
  ...messageBlock(1, redacted),
  ...messageBlock(2, call),
  ...messageEnd('tool_use'),
];

/** Returns the client's answer of an upstream, streamed and whole. */
function answers(origin: string | undefined): JsonObject[][] {
  const answerContext: AnswerContext = { id: 'msg_1', model: 'm', created: 1, origin };
  const { text } = runStream(messagesToMessages.createStream(answerContext), events);
  const { body } = messagesToMessages.translateReply({ content, stop_reason: 'tool_use', usage }, answerContext);
  return [assembleMessage(text).content, body['content'] as JsonObject[]];
}

/** Returns the upstream's request for an answer that the client returns. */
function returned(answer: JsonObject[], origin: string | undefined): unknown {
  const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'done' };
  const messages = [user, { role: 'assistant', content: answer }, { role: 'user', content: [result] }];
  const sent = messagesToMessages.translateRequest({ model: 'm', max_tokens: 9, messages }, { model: 'm', origin });
  return (sent['messages'] as JsonObject[])[1]?.['content'];
}

describe('thinking that a messages upstream has signed', () => {
  it.each([0, 1])('returns unchanged from a messages client to its upstream, and to no other one (%i)', (at) => {
    const answer = answers('here')[at] ?? [];
    expect(answer).toMatchObject([{ thinking: 'Hm.' }, { type: 'redacted_thinking' }, call]);
    expect(returned(answer, 'here')).toEqual(content);
    expect(returned(answer, 'there')).toEqual([call]);
    // Anthropic, and command-line agents.
    expect(returned(answer, undefined)).toEqual([call]);
  });

  it.each([0, 1])('is unmarked if the upstream accepts thinking of all its accounts (%i)', (at) => {
    const answer = answers(undefined)[at] ?? [];
    expect(answer).toEqual(content);
    expect(returned(answer, undefined)).toEqual(content);
  });

  it('still becomes text for an engine', () => {
    const [answer = []] = answers('here');
    const messages = [user, { role: 'assistant', content: answer.slice(0, 1) }, user];
    const sent = messagesToChat.translateRequest({ model: 'm', max_tokens: 9, messages }, { model: 'm' });
    expect(sent['messages']).toMatchObject([{}, { reasoning_content: 'Hm.' }, {}]);
    expect(JSON.stringify(sent)).not.toContain('rtr.');
  });
});
