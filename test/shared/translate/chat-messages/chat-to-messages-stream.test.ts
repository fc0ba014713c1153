import { describe, expect, it } from 'vitest';
import { chatToMessages } from '#shared/translate/chat-messages/chat-to-messages.ts';
import { assembleCompletion } from '../assemble-completion.ts';
import { runStream } from '../run-stream.ts';

const minted = { id: 'chatcmpl-1', model: 'served', created: 7 };
const start = {
  type: 'message_start',
  message: {
    id: 'x',
    content: [],
    usage: { input_tokens: 20, cache_read_input_tokens: 5, cache_creation_input_tokens: 3, output_tokens: 1 },
  },
};
const open = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block });
const delta = (index: number, delta: object) => ({ type: 'content_block_delta', index, delta });
const stop = (index: number) => ({ type: 'content_block_stop', index });
const ending = (stop_reason: string, more: object = {}) => [
  { type: 'message_delta', delta: { stop_reason, ...more }, usage: { input_tokens: null, output_tokens: 9 } },
  { type: 'message_stop' },
];
const run = (events: readonly (object | string)[]) => runStream(chatToMessages.stream(minted), events);

describe('a chat stream from a messages upstream', () => {
  it('has text, thinking and tool calls in chunks, with finish reason and usage in the last', () => {
    const { text, ending: end } = run([
      start,
      { type: 'ping' },
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'hm' }),
      delta(0, { type: 'signature_delta', signature: 's' }),
      stop(0),
      open(1, { type: 'text', text: 'He' }),
      delta(1, { type: 'text_delta', text: 'llo' }),
      delta(1, { type: 'citations_delta', citation: {} }),
      stop(1),
      open(2, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      delta(2, { type: 'input_json_delta', partial_json: '{"q":1}' }),
      stop(2),
      open(3, { type: 'tool_use', id: 'a', name: 'f', input: {} }),
      delta(3, { type: 'input_json_delta', partial_json: '' }),
      delta(3, { type: 'input_json_delta', partial_json: '{"x":' }),
      delta(3, { type: 'input_json_delta', partial_json: '1}' }),
      stop(3),
      open(4, { type: 'tool_use', id: 'b', name: 'g', input: {} }),
      stop(4),
      open(5, { type: 'tool_use', id: 'c', name: 'h', input: { y: 2 } }),
      stop(5),
      { type: 'something_new' },
      ...ending('tool_use'),
    ]);
    expect(assembleCompletion(text)).toEqual({
      content: 'Hello',
      reasoning: 'hm',
      refusal: '',
      calls: [
        { id: 'a', name: 'f', arguments: '{"x":1}' },
        { id: 'b', name: 'g', arguments: '{}' },
        { id: 'c', name: 'h', arguments: '{"y":2}' },
      ],
      finishReason: 'tool_calls',
      usage: {
        prompt_tokens: 28,
        completion_tokens: 9,
        total_tokens: 37,
        prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 3 },
      },
    });
    expect(end).toMatchObject({ finishReason: 'tool_calls', usage: { cachedTokens: 5, completionTokens: 9 } });
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['pause_turn', 'stop'],
    ['refusal', 'content_filter'],
  ])('has for %s the finish reason %s', (stopReason, finish) => {
    expect(assembleCompletion(run([start, ...ending(stopReason)]).text).finishReason).toBe(finish);
  });

  it('has the reason of a refusal', () => {
    const { text } = run([start, ...ending('refusal', { stop_details: { type: 'refusal', explanation: 'no' } })]);
    expect(assembleCompletion(text).refusal).toBe('no');
  });

  it.each([
    ['stops early', [start, open(0, { type: 'text', text: 'a' })], 'upstream_failed'],
    ['says nothing', [], 'upstream_failed'],
    ['is not JSON', [start, '{'], 'upstream_failed'],
    ['breaks down', [start, { type: 'error', error: { type: 'api_error', message: 'x' } }], 'upstream_failed'],
    ['is overloaded', [start, { type: 'error', error: { type: 'overloaded_error', message: 'x' } }], 'overloaded'],
  ])('fails when the upstream %s', (_, events, code) => {
    expect(() => run(events)).toThrow(expect.objectContaining({ code }));
  });
});
