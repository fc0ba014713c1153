import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { parseMessagesRequest } from '#shared/formats/messages/parse-messages-request.ts';
import { messagesToChat } from '#shared/translate/messages-chat/messages-to-chat.ts';
import { readMessagesConversation } from '#shared/translate/messages-conversation/read-messages-conversation.ts';
import { messagesToResponses } from '#shared/translate/messages-responses/messages-to-responses.ts';

const first = { role: 'user', content: 'Long ago.' };
const tool = { name: 'old', input_schema: { type: 'object' } };
const compaction = (content: string | null, more: object = {}): object => ({ type: 'compaction', content, ...more });
const said = (text: string): string => `Summary of the conversation before this message:\n\n${text}`;

function chat(messages: object[], more: object = {}): JsonObject {
  const body = parseMessagesRequest({ model: 'm', max_tokens: 9, messages, ...more });
  const before = structuredClone(body);
  const request = messagesToChat.request(body, { model: 'm' });
  expect(body).toEqual(before);
  return request;
}

describe('a messages history with a compaction block, for an upstream that reads none', () => {
  it('begins with its summary, in place of all that precedes it', () => {
    const answer = [{ type: 'text', text: 'Dropped.' }, compaction('They want X.'), { type: 'text', text: 'Doing X.' }];
    const { messages } = chat([first, { role: 'assistant', content: answer }, { role: 'user', content: 'Go on.' }]);
    expect(messages).toEqual([
      { role: 'user', content: said('They want X.') },
      { role: 'assistant', content: 'Doing X.' },
      { role: 'user', content: 'Go on.' },
    ]);
  });

  it('has the newest summary, with the next turn of the user in one message', () => {
    const older = { role: 'assistant', content: [compaction('Older.')] };
    const newer = { role: 'assistant', content: [compaction('Newer.')] };
    const { messages } = chat([older, first, newer, { role: 'user', content: 'Go on.' }]);
    const parts = [said('Newer.'), 'Go on.'].map((text) => ({ type: 'text', text }));
    expect(messages).toEqual([{ role: 'user', content: parts }]);
    // A client may send it as the first message of the user.
    expect(
      chat([{ role: 'user', content: [compaction('Newer.'), { type: 'text', text: 'Go on.' }] }])['messages'],
    ).toEqual(messages);
  });

  it('has the tools that were in effect at the end of what it stands for', () => {
    const changes = [{ type: 'tool_removal', tool: { type: 'tool_reference', name: 'old' } }];
    const { tools, messages } = chat(
      [
        { role: 'user', content: [compaction('So far.', { tool_changes: changes })] },
        { role: 'user', content: 'Hi.' },
      ],
      { tools: [tool, { ...tool, name: 'kept' }] },
    );
    expect(tools).toMatchObject([{ function: { name: 'kept' } }]);
    expect(JSON.stringify(messages)).not.toContain('system');
  });

  it('is whole where the compaction has failed', () => {
    const answer = { role: 'assistant', content: [compaction(null), { type: 'text', text: 'Yes?' }] };
    const alone = { role: 'assistant', content: [compaction(null)] };
    const messages = [
      { role: 'user', content: 'Long ago.' },
      { role: 'assistant', content: 'Yes?' },
    ];
    expect(chat([first, alone, answer])['messages']).toEqual(messages);
  });

  it('goes to Responses upstreams and command-line agents too', () => {
    const body = parseMessagesRequest({
      model: 'm',
      max_tokens: 9,
      messages: [
        first,
        { role: 'assistant', content: [compaction('They want X.')] },
        { role: 'user', content: 'Go on.' },
      ],
    });
    const { input } = messagesToResponses.request(body, { model: 'm' });
    const conversation = readMessagesConversation(body, { model: 'm' });
    for (const whole of [input, conversation].map((each) => JSON.stringify(each))) {
      expect(whole).toContain('They want X.');
      expect(whole).toContain('Go on.');
      expect(whole).not.toContain('Long ago');
    }
  });
});
