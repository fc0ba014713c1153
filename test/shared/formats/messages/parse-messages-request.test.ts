import { describe, expect, it } from 'vitest';
import { parseCountTokensRequest, parseMessagesRequest } from '#shared/formats/messages/parse-messages-request.ts';
import { refusalOf } from '../../../helpers/formats/refusal-of.ts';
import { said, textBlock } from '../../../helpers/formats/said.ts';

const user = said('user', 'hi');
const base = { model: 'm', max_tokens: 9, messages: [user] };

const refusal = (body: unknown, parse: (body: unknown) => unknown = parseMessagesRequest) =>
  refusalOf(() => parse(body));

const imageOf = (data: string) => ({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } });
const use = { type: 'tool_use', id: 'a', name: 'b' };
const stray = { type: 'tool_result', tool_use_id: 'nobody' };
const block = (content: object) => ({ messages: [said('user', [content])] });

describe('a messages request', () => {
  it('is returned as the same object, with all fields of current clients', () => {
    const body = {
      ...base,
      system: [{ type: 'text', text: 'x-anthropic-billing-header: v', cache_control: { type: 'ephemeral' } }],
      messages: [
        said('user', [imageOf('aa')]),
        said('assistant', [
          { type: 'thinking', thinking: 't', signature: 's' },
          { type: 'redacted_thinking', data: 'd' },
          { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
          { type: 'tool_use', id: 't1', name: 'f', input: {} },
        ]),
        said('user', [{ type: 'tool_result', tool_use_id: 't1', content: [textBlock('')] }]),
        said('system', 'late'),
      ],
      tools: [
        { name: 'f', input_schema: { type: 'object' } },
        { type: 'web_search_20260209', name: 'web_search' },
        { name: 'DeferredToolPlaceholder', defer_loading: true },
      ],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      thinking: { type: 'adaptive', display: 'omitted' },
      output_config: { effort: 'high' },
      context_management: { edits: [{ type: 'clear_thinking_20251015' }] },
    };
    expect(parseMessagesRequest(body)).toBe(body);
  });

  it.each([
    [{ messages: undefined }, 'messages: Field required'],
    [{ max_tokens: undefined }, 'max_tokens: Field required'],
    [{ max_tokens: -1 }, 'max_tokens: Input should be greater than or equal to 0'],
    [{ max_tokens: 1.5 }, 'max_tokens: Input should be a valid integer'],
    [{ messages: [] }, 'messages: List should have at least 1 item'],
    [{ messages: [{ role: 'user' }] }, 'messages.0.content: Field required'],
    [{ messages: [said('user', 1)] }, 'messages.0.content: Input should be a valid string or a valid list'],
    [{ messages: [said('tool', '')] }, "messages.0.role: Input should be 'user', 'assistant' or 'system'"],
    [block({ text: 'x' }), 'messages.0.content.0.type: Field required'],
    [block({ type: 'text' }), 'messages.0.content.0.text: Field required'],
    [block({ type: 'image', source: { type: 'base64' } }), 'messages.0.content.0.source.media_type: Field required'],
    [block({ ...use, input: 'x' }), 'messages.0.content.0.input: Input should be an object'],
    [block(stray), 'messages.0.content.0.tool_use_id: no `tool_use` block before it has this id'],
    [{ temperature: 1.5 }, 'temperature: Input should be less than or equal to 1'],
    [{ tools: [{ input_schema: {} }] }, 'tools.0.name: Field required'],
    [{ tool_choice: { type: 'tool' } }, 'tool_choice.name: Field required'],
    [{ tool_choice: { type: 'required' } }, "tool_choice.type: Input should be 'auto', 'any', 'none' or 'tool'"],
    [
      { thinking: { type: 'enabled', budget_tokens: 10 } },
      'thinking.budget_tokens: Input should be greater than or equal to 1024',
    ],
    [
      { thinking: { type: 'bogus' } },
      "thinking.type: Input should be 'adaptive', 'between_tools', 'disabled' or 'enabled'",
    ],
    [
      { output_config: { effort: 'bogus' } },
      "output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'",
    ],
    [{ tools: [{ name: 'f' }] }, 'tools.0.input_schema: Field required'],
    [{ tool_choice: { type: 'any' } }, 'tool_choice: this choice needs `tools`'],
    [{ tools: [], tool_choice: { type: 'tool', name: 'f' } }, 'tool_choice: this choice needs `tools`'],
    [
      { tools: [{ name: 'f', input_schema: {} }], tool_choice: { type: 'tool', name: 'g' } },
      'tool_choice.name: no tool of the request has this name',
    ],
    [block(imageOf('no base64!')), 'messages.0.content.0.source.data: Input should be valid base64'],
  ])('with %j is refused: %s', (fields, message) => {
    expect(refusal({ ...base, ...fields }).message).toBe(message);
  });

  it('is refused if it is not an object', () => {
    expect(refusal(5).message).toBe('The request body must be a JSON object.');
  });

  it('may have many megabytes of base64, on one line or on many', () => {
    const line = 'QUJD'.repeat(2_000_000);
    for (const data of [`${line}QQ==`, `${line}\n${line}QUI=\n`]) {
      const body = { ...base, ...block(imageOf(data)) };
      expect(parseMessagesRequest(body)).toBe(body);
    }
  });

  it('that continues a thread is refused with the details after which clients send the whole history', () => {
    for (const parse of [parseMessagesRequest, parseCountTokensRequest]) {
      const error = refusal({ thread: { type: 'continue', previous_message_id: 'msg_1' }, messages: 7 }, parse);
      expect(error).toMatchObject({
        code: 'invalid_request',
        details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
      });
    }
  });

  it('for a token count needs no max_tokens', () => {
    const body = { model: 'm', messages: [user] };
    expect(parseCountTokensRequest(body)).toBe(body);
  });
});
