import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { parseMessagesRequest } from '#shared/formats/messages/parse-messages-request.ts';
import { messagesToChat } from '#shared/translate/messages-chat/messages-to-chat.ts';
import { readMessagesConversation } from '#shared/translate/conversation/messages-to-conversation.ts';
import { messagesToResponses } from '#shared/translate/messages-responses/messages-to-responses.ts';
import { said, textBlock } from '../../../helpers/formats/said.ts';

const first = said('user', 'Long ago.');
const tool = { name: 'old', input_schema: { type: 'object' } };
const compaction = (content: string | null, more: object = {}): object => ({ type: 'compaction', content, ...more });
const summaryOf = (text: string): string => `Summary of the conversation before this message:\n\n${text}`;

function chat(messages: object[], more: object = {}): JsonObject {
  const body = parseMessagesRequest({ model: 'm', max_tokens: 9, messages, ...more });
  const before = structuredClone(body);
  const request = messagesToChat.translateRequest(body, { model: 'm' });
  expect(body).toEqual(before);
  return request;
}

describe('a messages history with a compaction block, for an upstream without compaction', () => {
  it('begins with the summary, in place of everything before it', () => {
    const answer = [textBlock('Dropped.'), compaction('They want X.'), textBlock('Doing X.')];
    const { messages } = chat([first, said('assistant', answer), said('user', 'Go on.')]);
    expect(messages).toEqual([
      said('user', summaryOf('They want X.')),
      said('assistant', 'Doing X.'),
      said('user', 'Go on.'),
    ]);
  });

  it("has the newest summary, in one message with the user's next turn", () => {
    const older = said('assistant', [compaction('Older.')]);
    const newer = said('assistant', [compaction('Newer.')]);
    const { messages } = chat([older, first, newer, said('user', 'Go on.')]);
    const parts = [summaryOf('Newer.'), 'Go on.'].map((text) => textBlock(text));
    expect(messages).toEqual([said('user', parts)]);
    // A client may send the block in the first user message.
    expect(chat([said('user', [compaction('Newer.'), textBlock('Go on.')])])['messages']).toEqual(messages);
  });

  it('has the tools that were in effect at the end of the summarized part', () => {
    const tool_changes = [{ type: 'tool_removal', tool: { type: 'tool_reference', name: 'old' } }];
    const turns = [said('user', [compaction('So far.', { tool_changes })]), said('user', 'Hi.')];
    const { tools, messages } = chat(turns, { tools: [tool, { ...tool, name: 'kept' }] });
    expect(tools).toMatchObject([{ function: { name: 'kept' } }]);
    expect(JSON.stringify(messages)).not.toContain('system');
  });

  it('is complete if the compaction failed', () => {
    const answer = said('assistant', [compaction(null), textBlock('Yes?')]);
    const alone = said('assistant', [compaction(null)]);
    const messages = [said('user', 'Long ago.'), said('assistant', 'Yes?')];
    expect(chat([first, alone, answer])['messages']).toEqual(messages);
  });

  it('also goes to Responses upstreams and command-line agents', () => {
    const messages = [first, said('assistant', [compaction('They want X.')]), said('user', 'Go on.')];
    const body = parseMessagesRequest({ model: 'm', max_tokens: 9, messages });
    const { input } = messagesToResponses.translateRequest(body, { model: 'm' });
    const conversation = readMessagesConversation(body, { model: 'm' });
    for (const whole of [input, conversation].map((each) => JSON.stringify(each))) {
      expect(whole).toContain('They want X.');
      expect(whole).toContain('Go on.');
      expect(whole).not.toContain('Long ago');
    }
  });
});
