import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { parseCountTokensRequest, parseMessagesRequest } from '#shared/formats/messages/parse-messages-request.ts';
import { messagesToChat } from '#shared/translate/messages-chat/messages-to-chat.ts';
import type { ModelTraits } from '#shared/translate/translation.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { said, textBlock } from '../../../helpers/formats/said.ts';

const user = said('user', 'hi');

function translate(fields: JsonObject, traits: Partial<ModelTraits> = {}): JsonObject {
  const body = { model: 'm', max_tokens: 9, messages: [user], ...fields };
  return messagesToChat.translateRequest(parseMessagesRequest(body), { model: 'up', ...traits });
}

function history(messages: Json[], fields: JsonObject = {}): Json | undefined {
  return translate({ ...fields, messages })['messages'];
}

const use = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { a: 1 } }] };
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } };

describe('a messages request to a chat upstream', () => {
  it('has all system text in one first message, without the billing header', () => {
    const system = ['x-anthropic-billing-header: cc_version=1', 'You are', 'helpful'].map(textBlock);
    const first = said('system', 'You are\n\nhelpful\n\nlate');
    expect(history([user, said('system', 'late')], { system })).toEqual([first, user]);
  });

  it.each([
    ['bash_20250124', 'bash', ['command', 'restart']],
    ['text_editor_20250728', 'str_replace_based_edit_tool', ['command', 'path', 'old_str', 'new_str', 'view_range']],
    ['memory_20250818', 'memory', ['command', 'path', 'file_text', 'old_path', 'new_path']],
    ['computer_20251124', 'computer', ['action', 'coordinate', 'text']],
  ])('has the tool %s, which the client runs, as a function', (type, name, properties) => {
    const size = { display_width_px: 1024, display_height_px: 768 };
    const tools = [{ type, name, ...size, cache_control: { type: 'ephemeral' } }];
    const expected = Object.fromEntries(properties.map((property) => [property, expect.anything() as unknown]));
    const description = name === 'computer' ? /1024 x 768/ : /./;
    const parameters = { properties: expected };
    const fn = { name, description: expect.stringMatching(description) as string, parameters };
    const sent = translate({ tools, tool_choice: { type: 'tool', name } })['tools'];
    expect(sent).toMatchObject([{ type: 'function', function: fn }]);
  });

  it("turns an engine's thinking off unless the client asks for thinking", () => {
    const can = { switchesThinking: true };
    expect(translate({}, can)['reasoning_effort']).toBe('none');
    expect(translate({ output_config: { effort: 'low' } }, can)['reasoning_effort']).toBe('none');
    expect(translate({ thinking: { type: 'adaptive' } }, can)['reasoning_effort']).toBe('high');
    expect(translate({})).not.toHaveProperty('reasoning_effort');
    expect(translate({ output_config: { effort: 'low' } })['reasoning_effort']).toBe('low');
  });

  it('has documents as text or, if the upstream accepts files, as files, with their titles and contexts', () => {
    const named = { type: 'document', title: 'T', context: 'Of 1999.' };
    const sent = (source: JsonObject, traits: Partial<ModelTraits> = {}): Json | undefined =>
      translate({ messages: [said('user', [{ ...named, source }])] }, traits)['messages'];
    const text = { type: 'text', media_type: 'text/plain', data: 'body' };
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'AA' };
    const parts = [textBlock('T\n\nOf 1999.'), textBlock('body')];
    expect(sent(text)).toEqual([said('user', 'T\n\nOf 1999.\n\nbody')]);
    expect(sent({ type: 'content', content: [textBlock('body')] })).toEqual([said('user', parts)]);
    const file = { filename: 'T', file_data: 'data:application/pdf;base64,AA' };
    const content = [textBlock('Of 1999.'), { type: 'file', file }];
    expect(sent(pdf, { takesFiles: true })).toMatchObject([{ content }]);
    expect(() => sent(pdf)).toThrow(errorWith('unsupported_parameter', { param: 'messages.0.content.0.source' }));
  });

  it('has every tool result as a separate message before the rest of the turn', () => {
    const result = { type: 'tool_result', tool_use_id: 't' };
    const failed = { ...result, is_error: true, content: [textBlock('a'), image, textBlock('b')] };
    const call = { id: 't', type: 'function', function: { name: 'f', arguments: '{"a":1}' } };
    expect(history([user, use, said('user', [textBlock('look'), failed, result])])).toEqual([
      user,
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 't', content: 'Error: a\n\nb\n\n[Image: number 1 in the next message]' },
      { role: 'tool', tool_call_id: 't', content: '' },
      said('user', [textBlock('look'), { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } }]),
    ]);
  });

  it('returns thinking to engines, with any signature', () => {
    const thought = (thinking: string, signature: string) => ({ type: 'thinking', thinking, signature });
    const content = [thought('one', 's'), { type: 'redacted_thinking', data: 'd' }, thought('two', 't')];
    const returned = { ...said('assistant', ''), reasoning_content: 'one\n\ntwo' };
    expect(history([user, said('assistant', content)])).toEqual([user, returned]);
  });

  it.each([
    [undefined, undefined, undefined],
    [undefined, 'high', 'high'],
    [{ type: 'disabled' }, 'high', 'none'],
    [{ type: 'between_tools' }, undefined, 'none'],
    [{ type: 'enabled', budget_tokens: 2048 }, undefined, 'low'],
    [{ type: 'enabled', budget_tokens: 8192 }, undefined, 'medium'],
    [{ type: 'enabled', budget_tokens: 32_000 }, undefined, 'high'],
    [{ type: 'adaptive' }, undefined, 'high'],
    [{ type: 'adaptive' }, 'max', 'max'],
  ])('translates thinking %j and effort %s to reasoning_effort %s', (thinking, effort, translated) => {
    const request = translate({ thinking, ...(effort !== undefined && { output_config: { effort } }) });
    expect(request['reasoning_effort']).toBe(translated);
  });

  it('has no output limit for a token count', () => {
    const body = parseCountTokensRequest({ model: 'm', messages: [user] });
    expect(messagesToChat.translateRequest(body, { model: 'up' })).toEqual({ model: 'up', messages: [user] });
  });
});
