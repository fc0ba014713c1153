import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { chatToChat } from '#shared/translate/same-format/chat-to-chat.ts';

const answerContext = { id: 'chatcmpl-own', model: 'served', created: 7, promptTokens: () => 11 };

function reply(message: JsonObject) {
  const choices = [{ index: 3, message, finish_reason: 'stop' }];
  return chatToChat.translateReply({ id: 'chatcmpl-7', choices }, answerContext);
}

describe('a chat answer with several choices', () => {
  const replyOf = (contents: readonly string[], more: JsonObject, n = contents.length) => {
    const choices = contents.map((content, index) => ({
      index,
      message: { content, tool_calls: [{ function: { name: 'f' } }] },
      finish_reason: index === 0 ? 'length' : 'stop',
    }));
    return chatToChat.translateReply({ choices, ...more }, { ...answerContext, recalled: { n } });
  };
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 };

  it('has all of them, with unique ids of calls and the total usage', () => {
    const { body, ending } = replyOf(['a', 'b'], { usage });
    expect(body).toMatchObject({
      choices: [
        { index: 0, message: { content: 'a', tool_calls: [{ id: 'call_own_0' }] }, finish_reason: 'length' },
        { index: 1, message: { content: 'b', tool_calls: [{ id: 'call_own_1_0' }] }, finish_reason: 'tool_calls' },
      ],
      usage,
    });
    expect(ending).toMatchObject({ finishReason: 'length', usage: { completionTokens: 4 } });
    // The client requested one.
    expect(replyOf(['a', 'b'], { usage }, 1).body['choices']).toHaveLength(1);
  });

  it('has an estimate for the choices that llama.cpp does not count', () => {
    const timings = { predicted_n: 4 };
    // Each choice has the name `f` besides its text.
    const { ending } = replyOf(['x'.repeat(7), 'x'.repeat(15)], { usage, timings });
    expect(ending.usage).toMatchObject({ promptTokens: 3, completionTokens: 12 });
    expect(replyOf(['x'.repeat(7)], { usage, timings }).ending.usage.completionTokens).toBe(4);
  });
});

describe('a chat answer that is not streamed', () => {
  it('has text, JSON arguments, ids and the finish reason tool_calls beside tool calls', () => {
    const calls = [
      { function: { name: 'f', arguments: { x: 1 } } },
      { id: '', index: 0, function: { name: 'g', arguments: '' } },
      { id: 'c', type: 'function', function: { name: 'h', arguments: '{' } },
    ];
    const { body, ending } = reply({ content: 'text', reasoning: 'hm', tool_calls: calls });
    expect(body['object']).toBe('chat.completion');
    const tool_calls = [
      { id: 'call_own_0', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
      { id: 'call_own_1', type: 'function', function: { name: 'g', arguments: '{}' } },
      { id: 'c', type: 'function', function: { name: 'h', arguments: '{' } },
    ];
    const message = { role: 'assistant', content: 'text', refusal: null, reasoning_content: 'hm', tool_calls };
    expect(body['choices']).toEqual([{ index: 0, logprobs: null, message, finish_reason: 'tool_calls' }]);
    expect(ending.finishReason).toBe('tool_calls');
  });

  it('has null as content beside tool calls without text', () => {
    const { body } = reply({ content: '', tool_calls: [{ function: { name: 'f' } }] });
    expect(body['choices']).toMatchObject([{ message: { content: null } }]);
  });

  it('has calls of custom tools unchanged', () => {
    const calls = [
      { id: 'a', type: 'custom', custom: { name: 'shell', input: 'ls "x"' } },
      { id: 'b', type: 'custom', custom: { name: 'shell', input: '' } },
    ];
    const { body, ending } = reply({ content: null, tool_calls: calls });
    expect(body['choices']).toMatchObject([{ message: { tool_calls: calls }, finish_reason: 'tool_calls' }]);
    expect(ending.usage.completionTokens).toBeGreaterThan(3);
  });

  it('has all three counts even if the engine reports none', () => {
    const usage = { prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 };
    expect(reply({ content: 'twelve bytes' }).body['usage']).toEqual(usage);
  });
});

it('a chat request to a chat upstream passes unchanged except for the model and the request for usage', () => {
  const body = { model: 'm', messages: [], stream: true, stream_options: { x: 1 }, top_k: 1 };
  const sent = { ...body, model: 'up', stream_options: { x: 1, include_usage: true } };
  expect(chatToChat.translateRequest(body, { model: 'up' })).toEqual(sent);
  expect(chatToChat.translateRequest({ model: 'm', messages: [] }, { model: 'up' })).toEqual({
    model: 'up',
    messages: [],
  });
});
