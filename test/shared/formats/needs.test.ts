import { describe, expect, it } from 'vitest';
import { computeChatNeeds } from '#shared/formats/chat/needs.ts';
import { parseChatRequest } from '#shared/formats/chat/parse-chat-request.ts';
import { moderationsFormat } from '#shared/formats/moderations/moderations-format.ts';
import { computeMessagesNeeds } from '#shared/formats/messages/needs.ts';
import { parseMessagesRequest } from '#shared/formats/messages/parse-messages-request.ts';
import { said } from '../../helpers/formats/said.ts';

const user = said('user', 'hi');
const chat = (fields: object) => computeChatNeeds(parseChatRequest({ model: 'm', messages: [user], ...fields }));
const messages = (fields: object) =>
  computeMessagesNeeds(parseMessagesRequest({ model: 'm', max_tokens: 9, messages: [user], ...fields }));
const nothing = { tools: false, vision: false, thinking: false, json: false };

describe('the needs of a chat request', () => {
  const tools = [{ type: 'function', function: { name: 'f' } }];
  const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${'A'.repeat(100_000)}` } };

  it.each([
    [{}, {}],
    [{ tools: [] }, {}],
    [{ tools }, { tools: true }],
    [{ tools, tool_choice: 'none' }, {}],
    [{ messages: [{ role: 'user', content: [image] }] }, { vision: true }],
    [{ reasoning_effort: 'low' }, { thinking: true }],
    [{ reasoning_effort: 'none' }, {}],
    [{ thinking: { type: 'enabled' } }, { thinking: true }],
    [{ chat_template_kwargs: { enable_thinking: true } }, { thinking: true }],
    [{ chat_template_kwargs: { enable_thinking: false } }, {}],
    [{ response_format: { type: 'text' } }, {}],
    [{ response_format: { type: 'json_object' } }, { json: true }],
  ])('for %j are %j', (fields, needs) => {
    expect(chat(fields)).toMatchObject({ ...nothing, ...needs });
  });

  it('include about as many input tokens as the text has; an image does not count by its bytes', () => {
    expect(chat({ messages: [said('user', 'word '.repeat(1000))] }).inputTokens).toBeGreaterThan(1000);
    expect(chat({ messages: [said('user', [image])] }).inputTokens).toBeLessThan(2000);
  });
});

describe('the needs of a messages request', () => {
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'A'.repeat(100_000) } };
  const called = said('assistant', [{ type: 'tool_use', id: 't', name: 'f', input: {} }]);
  const shown = said('user', [{ type: 'tool_result', tool_use_id: 't', content: [image] }]);

  it.each([
    [{}, {}],
    [{ tools: [{ name: 'f', input_schema: {} }] }, { tools: true }],
    [{ tools: [{ name: 'f', input_schema: {} }], tool_choice: { type: 'none' } }, {}],
    [{ messages: [user, called, shown] }, { vision: true }],
    [{ thinking: { type: 'adaptive' } }, { thinking: true }],
    [{ thinking: { type: 'disabled' } }, {}],
    [{ output_config: { format: { type: 'json_schema', schema: {} } } }, { json: true }],
  ])('for %j are %j', (fields, needs) => {
    expect(messages(fields)).toMatchObject({ ...nothing, ...needs });
  });

  it('include about as many input tokens as the text has; an image does not count by its bytes', () => {
    expect(messages({ system: 'word '.repeat(1000) }).inputTokens).toBeGreaterThan(1000);
    expect(messages({ messages: [{ role: 'user', content: [image] }] }).inputTokens).toBeLessThan(2000);
  });
});

describe('the longest input of a moderation request', () => {
  const needs = (input: unknown) =>
    moderationsFormat.read(Buffer.from(JSON.stringify({ input })), 'moderate').parameters.needs;
  const [long, short] = ['word '.repeat(1000), 'word'];

  it('is the longest of its texts, or all parts of its one input', () => {
    const whole = needs(long);
    expect(whole.longestInput).toBe(whole.inputTokens);
    expect(needs([short, long, long])).toMatchObject({ longestInput: whole.inputTokens });
    const parts = needs([
      { type: 'text', text: long },
      { type: 'text', text: long },
    ]);
    expect(parts.longestInput).toBe(2 * whole.inputTokens);
  });
});
