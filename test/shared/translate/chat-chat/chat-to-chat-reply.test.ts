import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { chatToChat } from '#shared/translate/chat-chat/chat-to-chat.ts';

const minted = { id: 'chatcmpl-own', model: 'served', created: 7, promptTokens: () => 11 };

function reply(message: JsonObject, choice: JsonObject = {}, more: JsonObject = {}) {
  return chatToChat.reply(
    { id: 'chatcmpl-7', choices: [{ index: 3, message, finish_reason: 'stop', ...choice }], ...more },
    minted,
  );
}

describe('a chat answer that is not streamed', () => {
  it("has the router's id, model and time, and all other fields of the engine", () => {
    const usage = {
      prompt_tokens: 3,
      completion_tokens: 2,
      total_tokens: 5,
      prompt_tokens_details: { cached_tokens: 1 },
    };
    const { body, ending } = reply(
      { content: 'a', annotations: [] },
      { logprobs: null },
      { usage, system_fingerprint: 'f' },
    );
    expect(body).toEqual({
      id: 'chatcmpl-own',
      object: 'chat.completion',
      created: 7,
      model: 'served',
      system_fingerprint: 'f',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'a', refusal: null, annotations: [] },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage,
    });
    expect(ending).toEqual({
      finishReason: 'stop',
      usage: { promptTokens: 3, cachedTokens: 1, cacheWriteTokens: 0, completionTokens: 2, reasoningTokens: 0 },
    });
  });

  it('with tool calls has its text, arguments as text, ids, and the finish reason tool_calls', () => {
    const calls = [
      { function: { name: 'f', arguments: { x: 1 } } },
      { id: '', index: 0, function: { name: 'g', arguments: '' } },
      { id: 'c', type: 'function', function: { name: 'h', arguments: '{' } },
    ];
    const { body, ending } = reply({ content: 'text', reasoning: 'hm', tool_calls: calls });
    expect(body['choices']).toEqual([
      {
        index: 0,
        logprobs: null,
        message: {
          role: 'assistant',
          content: 'text',
          refusal: null,
          reasoning_content: 'hm',
          tool_calls: [
            { id: 'call_own_0', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
            { id: 'call_own_1', type: 'function', function: { name: 'g', arguments: '{}' } },
            { id: 'c', type: 'function', function: { name: 'h', arguments: '{' } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ]);
    expect(ending.finishReason).toBe('tool_calls');
  });

  it('with tool calls and no text has null for it', () => {
    const { body } = reply({ content: '', tool_calls: [{ function: { name: 'f' } }] });
    expect(body['choices']).toMatchObject([{ message: { content: null } }]);
  });

  it('has calls of custom tools as they came', () => {
    const calls = [
      { id: 'a', type: 'custom', custom: { name: 'shell', input: 'ls "x"' } },
      { id: 'b', type: 'custom', custom: { name: 'shell', input: '' } },
    ];
    const { body, ending } = reply({ content: null, tool_calls: calls });
    expect(body['choices']).toMatchObject([{ message: { tool_calls: calls }, finish_reason: 'tool_calls' }]);
    expect(ending.usage.completionTokens).toBeGreaterThan(3);
  });

  it('has all three counts even if the engine reports none', () => {
    expect(reply({ content: 'twelve bytes' }).body['usage']).toEqual({
      prompt_tokens: 11,
      completion_tokens: 3,
      total_tokens: 14,
    });
  });

  it.each([
    ['has no choices', { choices: [] }],
    ['has no message', { choices: [{ finish_reason: 'stop' }] }],
    ['is an error', { error: { message: 'x' } }],
    ['was aborted', { choices: [{ message: { content: 'a' }, finish_reason: 'abort' }] }],
  ])('fails when it %s', (_, body) => {
    expect(() => chatToChat.reply(body, minted)).toThrow(expect.objectContaining({ code: 'upstream_failed' }));
  });
});

describe('a chat request to a chat upstream', () => {
  it('passes unchanged except for the model and the request for usage', () => {
    const body = { model: 'm', messages: [], stream: true, stream_options: { x: 1 }, top_k: 1 };
    expect(chatToChat.request(body, { model: 'up' })).toEqual({
      ...body,
      model: 'up',
      stream_options: { x: 1, include_usage: true },
    });
    expect(chatToChat.request({ model: 'm', messages: [] }, { model: 'up' })).toEqual({ model: 'up', messages: [] });
  });
});
