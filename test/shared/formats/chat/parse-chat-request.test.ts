import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { RouterError } from '#shared/core/errors.ts';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { parseChatRequest } from '#shared/formats/chat/parse-chat-request.ts';
import { isPlainMessage, isPlainTool } from '#shared/formats/chat/plain-elements.ts';
import { chatMessageSchema, chatToolSchema } from '#shared/formats/chat/schema.ts';

const user = { role: 'user', content: 'hi' };

function refusal(body: unknown): Pick<RouterError, 'code' | 'param' | 'message'> {
  try {
    parseChatRequest(body);
  } catch (error) {
    if (error instanceof RouterError) return { code: error.code, param: error.param, message: error.message };
    throw error;
  }
  throw new Error('the request was taken');
}

/** The value with each of its fields and elements, at any depth, replaced by each of these. */
function changesOf(given: unknown, values: readonly unknown[]): unknown[] {
  if (typeof given !== 'object' || given === null) return [];
  return Object.entries(given).flatMap(([name, inner]) =>
    [...values, ...changesOf(inner, values)].map((value) =>
      Array.isArray(given) ? given.with(Number(name), value) : { ...given, [name]: value },
    ),
  );
}

function withMessage(message: unknown): unknown {
  return { model: 'm', messages: [message] };
}

describe('a chat request', () => {
  it('is returned as the same object, including unknown fields and parts', () => {
    const body = {
      model: 'm',
      messages: [
        { role: 'developer', content: 'be brief' },
        { role: 'user', content: [{ type: 'video_url', video_url: { url: 'https://x' } }], name: 'n' },
        {
          role: 'assistant',
          reasoning_content: 'hm',
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: '' },
      ],
      temperature: null,
      chat_template_kwargs: { enable_thinking: true },
    };
    expect(parseChatRequest(body)).toBe(body);
  });

  it('may have sampling out of range, which the upstream judges', () => {
    const body = { model: 'm', messages: [user], top_p: 1.1, top_k: -1, frequency_penalty: 9 };
    expect(parseChatRequest(body)).toBe(body);
  });

  it.each([
    ['no object', [], 'invalid_request', undefined],
    [
      'options of a stream that is none',
      { model: 'm', messages: [user], stream: false, stream_options: { include_usage: true } },
      'invalid_request',
      'stream_options',
    ],
    ['no model', { messages: [user] }, 'missing_parameter', 'model'],
    ['an empty model', { model: '', messages: [user] }, 'invalid_request', 'model'],
    ['no messages', { model: 'm' }, 'missing_parameter', 'messages'],
    ['empty messages', { model: 'm', messages: [] }, 'invalid_request', 'messages'],
    ['a message that is text', withMessage('hi'), 'invalid_request', 'messages[0]'],
    ['a message without role', withMessage({ content: '' }), 'missing_parameter', 'messages[0].role'],
    ['an unknown role', withMessage({ role: 'robot', content: '' }), 'invalid_request', 'messages[0].role'],
    ['the role function', withMessage({ role: 'function', content: '' }), 'unsupported_parameter', 'messages[0].role'],
    ['no content', withMessage({ role: 'user' }), 'missing_parameter', 'messages[0].content'],
    ['content that is a number', withMessage({ role: 'user', content: 5 }), 'invalid_request', 'messages[0].content'],
    [
      'a part without type',
      withMessage({ role: 'user', content: [{ type: 'text', text: '' }, {}] }),
      'missing_parameter',
      'messages[0].content[1].type',
    ],
    [
      'an image that is not an object',
      withMessage({ role: 'user', content: [{ type: 'image_url', image_url: 'u' }] }),
      'invalid_request',
      'messages[0].content[0].image_url',
    ],
    [
      'a tool call whose arguments are an object',
      withMessage({
        role: 'assistant',
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: {} } }],
      }),
      'invalid_request',
      'messages[0].tool_calls[0].function.arguments',
    ],
    [
      'a tool result without its call',
      { model: 'm', messages: [user, { role: 'tool', tool_call_id: 'c', content: '' }] },
      'invalid_request',
      'messages[1].tool_call_id',
    ],
    ['temperature 3', { model: 'm', messages: [user], temperature: 3 }, 'invalid_request', 'temperature'],
    ['temperature as text', { model: 'm', messages: [user], temperature: '1' }, 'invalid_request', 'temperature'],
    ['top_p that is text', { model: 'm', messages: [user], top_p: '1' }, 'invalid_request', 'top_p'],
    ['max_tokens 0', { model: 'm', messages: [user], max_tokens: 0 }, 'invalid_request', 'max_tokens'],
    ['max_tokens 1.5', { model: 'm', messages: [user], max_tokens: 1.5 }, 'invalid_request', 'max_tokens'],
    ['stream as text', { model: 'm', messages: [user], stream: 'yes' }, 'invalid_request', 'stream'],
    ['a stop that is a number', { model: 'm', messages: [user], stop: [1] }, 'invalid_request', 'stop[0]'],
    ['no choice', { model: 'm', messages: [user], n: 0 }, 'invalid_request', 'n'],
    ['too many choices', { model: 'm', messages: [user], n: 129 }, 'invalid_request', 'n'],
    ['an unknown tool choice', { model: 'm', messages: [user], tool_choice: 'any' }, 'invalid_request', 'tool_choice'],
    [
      'audio without data',
      withMessage({ role: 'user', content: [{ type: 'input_audio', input_audio: { format: 'wav' } }] }),
      'missing_parameter',
      'messages[0].content[0].input_audio.data',
    ],
    [
      'a format without its schema',
      { model: 'm', messages: [user], response_format: { type: 'json_schema' } },
      'missing_parameter',
      'response_format.json_schema',
    ],
    [
      'a required call without tools',
      { model: 'm', messages: [user], tool_choice: 'required' },
      'invalid_request',
      'tool_choice',
    ],
    [
      'a call of a tool that is missing',
      {
        model: 'm',
        messages: [user],
        tools: [{ type: 'function', function: { name: 'f' } }],
        tool_choice: { type: 'function', function: { name: 'g' } },
      },
      'invalid_request',
      'tool_choice',
    ],
    [
      'a tool without name',
      { model: 'm', messages: [user], tools: [{ type: 'function', function: {} }] },
      'missing_parameter',
      'tools[0].function.name',
    ],
  ])('is refused for %s', (_, body, code, param) => {
    expect(refusal(body)).toMatchObject({ code, param });
  });

  it('is refused with one sentence that does not quote the request', () => {
    expect(refusal(withMessage({ role: 'user', content: 5 })).message).toBe(
      "Invalid value for 'messages[0].content': expected a string or an array, but got 5.",
    );
    expect(refusal({ model: 'm', messages: [user], tool_choice: 'secret' }).message).toBe(
      "Invalid value for 'tool_choice': expected 'auto' or 'none' or 'required' or an object, but got a string.",
    );
  });

  it('is taken at a glance only if its schema takes it, too', () => {
    const values = [undefined, null, '', 'x', 0, true, [], {}, ['x'], { url: 'x' }, { url: 1 }, { name: 'f' }];
    const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
    const parts = [
      { type: 'text', text: 'x' },
      { type: 'image_url', image_url: { url: 'x' } },
    ];
    const elements: { given: object; isPlain: (value: unknown) => boolean; schema: z.ZodType }[] = [
      { given: { role: 'user', content: 'x' }, isPlain: isPlainMessage, schema: chatMessageSchema },
      { given: { role: 'system', content: parts }, isPlain: isPlainMessage, schema: chatMessageSchema },
      {
        given: { role: 'assistant', content: null, tool_calls: [call] },
        isPlain: isPlainMessage,
        schema: chatMessageSchema,
      },
      { given: { role: 'tool', tool_call_id: 'c', content: 'x' }, isPlain: isPlainMessage, schema: chatMessageSchema },
      {
        given: { type: 'function', function: { name: 'f', description: 'd', parameters: {}, strict: true } },
        isPlain: isPlainTool,
        schema: chatToolSchema,
      },
    ];
    let refused = 0;
    for (const { given, isPlain, schema } of elements) {
      expect([isPlain(given), schema.safeParse(given).success]).toEqual([true, true]);
      for (const changed of changesOf(given, values)) {
        const { success } = schema.safeParse(changed);
        if (!success) refused += 1;
        if (isPlain(changed)) expect(success, JSON.stringify(changed)).toBe(true);
      }
    }
    expect(refused).toBeGreaterThan(100);
    for (const value of values) expect([isPlainMessage(value), isPlainTool(value)]).toEqual([false, false]);
  });

  it('with 20 MiB of history is checked quickly', () => {
    const text = 'x'.repeat(1000);
    const messages = Array.from({ length: 20_000 }, (_, at) => ({
      role: at % 2 === 0 ? 'user' : 'assistant',
      content: [{ type: 'text', text }],
    }));
    const begin = performance.now();
    parseChatRequest({ model: 'm', messages });
    expect(performance.now() - begin).toBeLessThan(1000);
  });

  it('with a million invalid parts is refused quickly', () => {
    const content = Array.from({ length: 1_000_000 }, () => ({ type: 'text' }));
    const begin = performance.now();
    expect(refusal(withMessage({ role: 'user', content })).param).toBe('messages[0].content[0].text');
    expect(performance.now() - begin).toBeLessThan(1000);
  });
});

it('the most output of a chat request is that of all its choices', () => {
  const most = (fields: object) => {
    const body = JSON.stringify({ model: 'm', messages: [user], ...fields });
    return chatFormat.read(Buffer.from(body), 'generate').parameters.maxOutput;
  };
  expect([most({}), most({ n: 3 })]).toEqual([undefined, undefined]);
  expect([most({ max_tokens: 10 }), most({ max_completion_tokens: 10, n: 3 })]).toEqual([10, 30]);
});
