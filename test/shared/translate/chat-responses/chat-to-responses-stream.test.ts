import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { chatToResponses } from '#shared/translate/chat-responses/chat-to-responses.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { assembleCompletion } from '../assemble-completion.ts';
import { recordedStream, runRecorded, runStream } from '../run-stream.ts';

const answerContext = { id: 'chatcmpl-1', model: 'served', created: 7, promptTokens: () => 11 };

const open = () => chatToResponses.createStream(answerContext);
const read = (events: readonly object[]) => assembleCompletion(runStream(open(), events).text);
const openai = (name: string) =>
  assembleCompletion(runRecorded(open(), recordedStream('providers/openai-responses', name)));

const thinking =
  '**Choosing a tool**\n\nThe person asks for two cities.\n\n**Calling it**\n\nBoth calls can run at once.';
const calls = [
  { id: 'call_kJ3nLpQ8sT2vXzB5cF7hR9wY', name: 'get_weather', arguments: '{"city":"Oslo"}' },
  { id: 'call_mN4oMqR9tU3wYaC6dG8iS0xZ', name: 'get_weather', arguments: '{"city":"São Paulo"}' },
];

describe("a Responses upstream's stream, for a chat client", () => {
  it('has summaries as thinking, text, parallel calls and usage', () => {
    const content = "I'll look up both cities – São Paulo too.";
    const { usage, ...said } = openai('tools');
    expect(said).toEqual({ content, reasoning: thinking, refusal: '', calls, finishReason: 'tool_calls' });
    expect(usage).toMatchObject({ prompt_tokens: 412, completion_tokens: 187, total_tokens: 599 });
  });

  it('has a refusal in the field refusal', () => {
    expect(openai('refusal')).toMatchObject({ refusal: "I can't help with that.", content: '', finishReason: 'stop' });
  });

  it.each([
    ['fails', 'rate_limit_exceeded', 1.5],
    ['breaks', 'upstream_failed', undefined],
    ['error', 'overloaded', undefined],
  ])('with %s fails with the error %s', (name, code, retryAfter) => {
    expect(() => openai(name)).toThrow(errorWith(code, { retryAfter }));
  });

  it('has arguments once that come in no delta', () => {
    const item = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '' };
    const { calls } = read([
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.function_call_arguments.delta', item_id: 'fc_1', delta: '{"x"' },
      { type: 'response.function_call_arguments.done', item_id: 'fc_1', arguments: '{"x":1}' },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { status: 'completed', output: [] } },
    ]);
    expect(calls).toEqual([{ id: 'c', name: 'f', arguments: '{"x":1}' }]);
  });

  it.each(['thinking', 'tool'])('from llama-server has the same content as its whole answer: %s', (name) => {
    const bytes = recordedStream('engines/llama-cpp', `responses-${name}-stream`);
    const { usage, ...streamed } = assembleCompletion(runRecorded(open(), bytes));
    const whole = chatToResponses.translateReply(terminal(bytes), answerContext).body;
    const [{ message, finish_reason: finishReason }] = whole['choices'] as [JsonObject & { message: JsonObject }];
    const called = (message['tool_calls'] ?? []) as (JsonObject & { function: JsonObject })[];
    const calls = called.map(({ id, function: fn }) => ({ id, ...fn }));
    expect(calls).toHaveLength(name === 'tool' ? 1 : 0);
    const { content, reasoning_content: reasoning = '' } = message;
    expect({ ...streamed, usage }).toMatchObject({ content: content ?? '', reasoning, calls, finishReason });
    expect(usage).toEqual(whole['usage']);
  });

  it('may bring whole items without deltas', () => {
    const items = [
      { id: 'rs', type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] },
      { id: 'msg', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] },
      { id: 'fc', type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
    ];
    const end = { type: 'response.completed', response: { status: 'completed', output: items } };
    const done = items.map((item, at) => ({ type: 'response.output_item.done', output_index: at, item }));
    const expected = { content: 'Hello', reasoning: 'hm', calls: [{ id: 'c', name: 'f', arguments: '{}' }] };
    for (const events of [[...done, end], [end]]) expect(read(events)).toMatchObject(expected);
  });

  it('gives a call without arguments an empty object', () => {
    const item = { id: 'fc', type: 'function_call', call_id: 'c', name: 'f', arguments: '' };
    const steps = ['added', 'done'].map((step) => ({ type: `response.output_item.${step}`, item }));
    const end = { type: 'response.completed', response: { status: 'completed', output: [item] } };
    expect(read([...steps, end]).calls).toEqual([{ id: 'c', name: 'f', arguments: '{}' }]);
  });
});

it("a Responses upstream's whole answer has for a chat client the content of the streamed one", () => {
  const whole = JSON.parse(readFileSync('test/fixtures/providers/openai-responses/whole.json', 'utf8')) as JsonObject;
  const { body, ending } = chatToResponses.translateReply(whole, answerContext);
  const { usage, content } = openai('tools');
  expect(body['usage']).toEqual(usage);
  const [{ message }] = body['choices'] as [{ message: JsonObject }];
  expect(message).toMatchObject({ content, reasoning_content: thinking });
  expect(message['tool_calls']).toEqual(calls.map(({ id, ...fn }) => ({ id, type: 'function', function: fn })));
  expect(ending.usage).toMatchObject({ promptTokens: 412, cachedTokens: 256, reasoningTokens: 128 });
});

/** Returns the response of a stream's last event. */
function terminal(bytes: Buffer): JsonObject {
  const data = bytes.toString().trimEnd().split('\n').at(-1) ?? '';
  return (JSON.parse(data.slice('data: '.length)) as { response: JsonObject }).response;
}
