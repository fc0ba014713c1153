import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { parseCountTokensRequest, parseMessagesRequest } from '#shared/formats/messages/parse-messages-request.ts';
import { messagesToChat } from '#shared/translate/messages-chat/messages-to-chat.ts';
import type { ModelTraits } from '#shared/translate/translation.ts';
import { errorWith } from '../../../helpers/error-with.ts';

const user = { role: 'user', content: 'hi' };

function translate(fields: JsonObject, traits: Partial<ModelTraits> = {}): JsonObject {
  const body = { model: 'm', max_tokens: 9, messages: [user], ...fields };
  return messagesToChat.request(parseMessagesRequest(body), { model: 'up', ...traits });
}

function history(messages: Json[], fields: JsonObject = {}): Json | undefined {
  return translate({ ...fields, messages })['messages'];
}

const use = { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { a: 1 } }] };
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } };

describe('a messages request to a chat upstream', () => {
  it('has all system text in one first message, without the billing header', () => {
    const system = ['x-anthropic-billing-header: cc_version=1', 'You are', 'helpful'].map((text) => ({
      type: 'text',
      text,
    }));
    expect(history([user, { role: 'system', content: 'late' }], { system })).toEqual([
      { role: 'system', content: 'You are\n\nhelpful\n\nlate' },
      user,
    ]);
  });

  it.each([
    ['bash_20250124', 'bash', ['command', 'restart']],
    ['text_editor_20250728', 'str_replace_based_edit_tool', ['command', 'path', 'old_str', 'new_str', 'view_range']],
    ['memory_20250818', 'memory', ['command', 'path', 'file_text', 'old_path', 'new_path']],
    ['computer_20251124', 'computer', ['action', 'coordinate', 'text']],
  ])('has the tool %s, which the client runs, as a function', (type, name, properties) => {
    const tools = [
      { type, name, display_width_px: 1024, display_height_px: 768, cache_control: { type: 'ephemeral' } },
    ];
    const [tool] = translate({ tools, tool_choice: { type: 'tool', name } })['tools'] as {
      type: string;
      function: { name: string; description: string; parameters: { properties: object } };
    }[];
    expect(tool).toMatchObject({ type: 'function', function: { name } });
    expect(Object.keys(tool?.function.parameters.properties ?? {})).toEqual(expect.arrayContaining(properties));
    if (name === 'computer') expect(tool?.function.description).toContain('1024 x 768');
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
    const said = (source: JsonObject, traits: Partial<ModelTraits> = {}): Json | undefined =>
      translate({ messages: [{ role: 'user', content: [{ ...named, source }] }] }, traits)['messages'];
    const text = { type: 'text', media_type: 'text/plain', data: 'body' };
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'AA' };
    expect(said(text)).toEqual([{ role: 'user', content: 'T\n\nOf 1999.\n\nbody' }]);
    expect(said({ type: 'content', content: [{ type: 'text', text: 'body' }] })).toMatchObject([
      { content: [{ text: 'T\n\nOf 1999.' }, { text: 'body' }] },
    ]);
    const file = { filename: 'T', file_data: 'data:application/pdf;base64,AA' };
    expect(said(pdf, { takesFiles: true })).toMatchObject([
      {
        content: [
          { type: 'text', text: 'Of 1999.' },
          { type: 'file', file },
        ],
      },
    ]);
    expect(() => said(pdf)).toThrow(errorWith('unsupported_parameter', { param: 'messages.0.content.0.source' }));
  });

  it('has every tool result as a separate message before the rest of the turn', () => {
    const results = {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        {
          type: 'tool_result',
          tool_use_id: 't',
          is_error: true,
          content: [{ type: 'text', text: 'a' }, image, { type: 'text', text: 'b' }],
        },
        { type: 'tool_result', tool_use_id: 't' },
      ],
    };
    expect(history([user, use, results])).toEqual([
      user,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 't', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }],
      },
      { role: 'tool', tool_call_id: 't', content: 'Error: a\n\nb\n\n[Image: number 1 in the next message]' },
      { role: 'tool', tool_call_id: 't', content: '' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'look' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
        ],
      },
    ]);
  });

  it('returns thinking to engines, with any signature', () => {
    const content = [
      { type: 'thinking', thinking: 'one', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
      { type: 'thinking', thinking: 'two', signature: 't' },
    ];
    expect(history([user, { role: 'assistant', content }])).toEqual([
      user,
      { role: 'assistant', content: '', reasoning_content: 'one\n\ntwo' },
    ]);
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
    expect(messagesToChat.request(body, { model: 'up' })).toEqual({ model: 'up', messages: [user] });
  });
});
