import { describe, expect, it } from 'vitest';
import { readChatConversation } from '#shared/translate/chat-conversation/read-chat-conversation.ts';
import { readMessagesConversation } from '#shared/translate/messages-conversation/read-messages-conversation.ts';
import { transcript } from '#shared/translate/conversation/conversation.ts';

const chat = (fields: object, takesImages = false) =>
  readChatConversation({ model: 'auto', messages: [{ role: 'user', content: 'hi' }], ...fields }, 'm', takesImages);
const messages = (fields: object, takesImages = false) =>
  readMessagesConversation(
    { model: 'auto', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }], ...fields },
    'm',
    takesImages,
  );
const image = 'data:image/png;base64,iVBORw0KGgo=';

describe('the conversation of a chat request', () => {
  it('joins system text, and turns of one role', () => {
    const { system, history, question } = chat({
      messages: [
        { role: 'system', content: 'A' },
        { role: 'assistant', content: 'welcome' },
        { role: 'user', content: 'one' },
        { role: 'user', content: [{ type: 'text', text: 'two' }] },
        { role: 'assistant', content: 'three' },
        { role: 'developer', content: 'B' },
        { role: 'user', content: 'four' },
      ],
    });
    expect(system).toBe('A\n\nB');
    expect(history.map(({ role, blocks }) => [role, blocks.length])).toEqual([
      ['user', 1],
      ['assistant', 1],
      ['user', 2],
      ['assistant', 1],
    ]);
    expect(question).toEqual([{ type: 'text', text: 'four' }]);
  });

  it('has effort, limits and stop sequences', () => {
    expect(chat({ reasoning_effort: 'low', max_completion_tokens: 5, max_tokens: 9, stop: 'X' })).toMatchObject({
      effort: 'low',
      maxTokens: 5,
      stop: ['X'],
    });
    expect(chat({ reasoning_effort: 'none' }).effort).toBe('none');
    expect(chat({}).effort).toBeUndefined();
  });

  it('has images only if the CLI accepts them', () => {
    const content = [{ type: 'image_url', image_url: { url: image } }];
    expect(chat({ messages: [{ role: 'user', content }] }, true).question[0]).toMatchObject({ type: 'image' });
    expect(() => chat({ messages: [{ role: 'user', content }] })).toThrow(
      expect.objectContaining({ code: 'unsupported_parameter', param: 'messages[0].content' }),
    );
  });

  it('ignores tools with the choice none', () => {
    const tools = [{ type: 'function', function: { name: 'x' } }];
    expect(() => chat({ tools, tool_choice: 'none' })).not.toThrow();
    expect(() => chat({ tools })).toThrow(expect.objectContaining({ param: 'tools' }));
  });

  it('needs a question of the user', () => {
    expect(() => chat({ messages: [{ role: 'system', content: 'A' }] })).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });
});

describe('the conversation of a messages request', () => {
  it('omits thinking and billing headers, and has later system messages', () => {
    const { system, history } = messages({
      system: [
        { type: 'text', text: 'x-anthropic-billing-header: cc' },
        { type: 'text', text: 'A' },
      ],
      messages: [
        { role: 'user', content: 'one' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            { type: 'text', text: 'two' },
          ],
        },
        { role: 'user', content: 'three' },
        { role: 'system', content: 'B' },
      ],
    });
    expect(system).toBe('A\n\nB');
    expect(history[1]?.blocks).toEqual([{ type: 'text', text: 'two' }]);
  });

  it.each([
    ['tools', { tools: [{ name: 'x', input_schema: {} }] }],
    ['output_config.format', { output_config: { format: { type: 'json_schema', schema: {} } } }],
    [
      'messages.0.content.0.type',
      { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x' }] }] },
    ],
  ])('is refused with the field: %s', (param, fields) => {
    expect(() => messages(fields)).toThrow(expect.objectContaining({ code: 'unsupported_parameter', param }));
  });
});

describe('a transcript', () => {
  it('is only the question without history', () => {
    expect(transcript(chat({}))).toBe('hi');
  });

  it('names the role of each turn', () => {
    const text = transcript(
      chat({
        messages: [
          { role: 'user', content: 'one' },
          { role: 'assistant', content: 'two' },
          { role: 'user', content: 'three' },
        ],
      }),
    );
    expect(text).toContain('<user>\none\n</user>\n\n<assistant>\ntwo\n</assistant>');
    expect(text.endsWith('\n\nthree')).toBe(true);
  });
});
