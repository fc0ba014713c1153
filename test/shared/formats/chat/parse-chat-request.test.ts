import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { parseChatRequest } from '#shared/formats/chat/parse-chat-request.ts';
import { isPlainMessage, isPlainTool } from '#shared/formats/chat/plain-elements.ts';
import { chatMessageSchema, chatToolSchema } from '#shared/formats/chat/schema.ts';
import { least } from '../../../helpers/least.ts';
import { timeOf } from '../../../helpers/time-of.ts';
import { refusalOf } from '../../../helpers/formats/refusal-of.ts';
import { said, textBlock } from '../../../helpers/formats/said.ts';

const user = said('user', 'hi');

const refusal = (body: unknown) => refusalOf(() => parseChatRequest(body));

/** Returns copies of a value: for each field and element, at any depth, one copy per replacement value. */
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
        said('developer', 'be brief'),
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

  it('may have sampling values out of range, which the upstream checks', () => {
    const body = { model: 'm', messages: [user], top_p: 1.1, top_k: -1, frequency_penalty: 9 };
    expect(parseChatRequest(body)).toBe(body);
  });

  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: {} } };
  const tool = { type: 'function', function: { name: 'f' } };
  const audio = { type: 'input_audio', input_audio: { format: 'wav' } };

  it.each<[object, string?, string?]>([
    [[]],
    [{ stream: false, stream_options: { include_usage: true } }, 'stream_options'],
    [{ model: '' }, 'model'],
    [{ messages: [] }, 'messages'],
    [{ messages: ['hi'] }, 'messages[0]'],
    [{ messages: [said('robot', '')] }, 'messages[0].role'],
    [{ messages: [said('user', 5)] }, 'messages[0].content'],
    [{ messages: [said('user', [{ type: 'image_url', image_url: 'u' }])] }, 'messages[0].content[0].image_url'],
    [{ messages: [{ role: 'assistant', tool_calls: [call] }] }, 'messages[0].tool_calls[0].function.arguments'],
    // A result without a call.
    [{ messages: [user, { role: 'tool', tool_call_id: 'c', content: '' }] }, 'messages[1].tool_call_id'],
    [{ temperature: 3 }, 'temperature'],
    [{ temperature: '1' }, 'temperature'],
    [{ top_p: '1' }, 'top_p'],
    [{ max_tokens: 0 }, 'max_tokens'],
    [{ max_tokens: 1.5 }, 'max_tokens'],
    [{ stream: 'yes' }, 'stream'],
    [{ stop: [1] }, 'stop[0]'],
    [{ n: 0 }, 'n'],
    [{ n: 129 }, 'n'],
    [{ tool_choice: 'any' }, 'tool_choice'],
    [{ tool_choice: 'required' }, 'tool_choice'],
    [{ tools: [tool], tool_choice: { type: 'function', function: { name: 'g' } } }, 'tool_choice'],
    [{ messages: [said('function', '')] }, 'messages[0].role', 'unsupported_parameter'],
  ])('is invalid with %j', (fields, param, code = 'invalid_request') => {
    const body = Array.isArray(fields) ? fields : { model: 'm', messages: [user], ...fields };
    expect(refusal(body)).toMatchObject({ code, param });
  });

  it.each([
    [{ model: undefined }, 'model'],
    [{ messages: undefined }, 'messages'],
    [{ messages: [{ content: '' }] }, 'messages[0].role'],
    [{ messages: [{ role: 'user' }] }, 'messages[0].content'],
    [{ messages: [said('user', [textBlock(''), {}])] }, 'messages[0].content[1].type'],
    [{ messages: [said('user', [audio])] }, 'messages[0].content[0].input_audio.data'],
    [{ response_format: { type: 'json_schema' } }, 'response_format.json_schema'],
    [{ tools: [{ type: 'function', function: {} }] }, 'tools[0].function.name'],
  ])('lacks a field with %j: %s', (fields, param) => {
    expect(refusal({ model: 'm', messages: [user], ...fields })).toMatchObject({ code: 'missing_parameter', param });
  });

  it('is refused with one sentence that does not quote the request', () => {
    expect(refusal(withMessage(said('user', 5))).message).toBe(
      "Invalid value for 'messages[0].content': expected a string or an array, but got 5.",
    );
    expect(refusal({ model: 'm', messages: [user], tool_choice: 'secret' }).message).toBe(
      "Invalid value for 'tool_choice': expected 'auto' or 'none' or 'required' or an object, but got a string.",
    );
  });

  it('is accepted by the fast check only if its schema accepts it', () => {
    const values = [undefined, null, '', 'x', 0, true, [], {}, ['x'], { url: 'x' }, { url: 1 }, { name: 'f' }];
    const calls = [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }];
    const parts = [textBlock('x'), { type: 'image_url', image_url: { url: 'x' } }];
    const messages = [
      said('user', 'x'),
      said('system', parts),
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'c', content: 'x' },
    ].map((given) => ({ given, isPlain: isPlainMessage, schema: chatMessageSchema as z.ZodType }));
    const given = { type: 'function', function: { name: 'f', description: 'd', parameters: {}, strict: true } };
    const elements = [...messages, { given, isPlain: isPlainTool, schema: chatToolSchema }];
    let refused = 0;
    for (const { given: element, isPlain, schema } of elements) {
      expect([isPlain(element), schema.safeParse(element).success]).toEqual([true, true]);
      for (const changed of changesOf(element, values)) {
        const { success } = schema.safeParse(changed);
        if (!success) refused += 1;
        if (isPlain(changed)) expect(success, JSON.stringify(changed)).toBe(true);
      }
    }
    expect(refused).toBeGreaterThan(100);
    for (const value of values) expect([isPlainMessage(value), isPlainTool(value)]).toEqual([false, false]);
  });

  it('with 20 MiB of history is checked quickly', async () => {
    const text = 'x'.repeat(1000);
    const turn = ['user', 'assistant'].map((role) => said(role, [textBlock(text)]));
    const messages = Array.from({ length: 10_000 }, () => structuredClone(turn)).flat();
    const check = timeOf(() => void parseChatRequest({ model: 'm', messages }));
    expect(await least(check, 1_000)).toBeLessThan(1_000);
  });

  it('with a million invalid parts is refused quickly', async () => {
    const content = Array.from({ length: 1_000_000 }, () => ({ type: 'text' }));
    const refuse = timeOf(() => {
      expect(refusal(withMessage(said('user', content))).param).toBe('messages[0].content[0].text');
    });
    expect(await least(refuse, 1_000)).toBeLessThan(1_000);
  });
});

it('the maximum output of a chat request counts all its choices', () => {
  const most = (fields: object) => {
    const body = JSON.stringify({ model: 'm', messages: [user], ...fields });
    return chatFormat.read(Buffer.from(body), 'generate').parameters.maxOutput;
  };
  expect([most({}), most({ n: 3 })]).toEqual([undefined, undefined]);
  expect([most({ max_tokens: 10 }), most({ max_completion_tokens: 10, n: 3 })]).toEqual([10, 30]);
});
