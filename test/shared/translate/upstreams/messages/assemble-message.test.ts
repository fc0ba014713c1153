import { describe, expect, it } from 'vitest';
import { assembleMessage } from '#shared/translate/upstreams/messages/assemble-message.ts';

const start = {
  type: 'message_start',
  message: { id: 'msg', content: [], stop_reason: null, usage: { input_tokens: 3, output_tokens: 1 } },
};
const open = (index: number, block: object) => ({ type: 'content_block_start', index, content_block: { ...block } });
const delta = (index: number, change: object) => ({ type: 'content_block_delta', index, delta: { ...change } });
const input = (index: number, json: string) => delta(index, { type: 'input_json_delta', partial_json: json });
const stopped = { stop_reason: 'tool_use', stop_sequence: null };
const end = { type: 'message_delta', delta: stopped, usage: { input_tokens: null, output_tokens: 9 } };

describe('a message assembled from its events', () => {
  it('has all blocks, with the fields of the last events', () => {
    const message = assembleMessage([
      start,
      open(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'hm' }),
      delta(0, { type: 'signature_delta', signature: 'c2ln' }),
      open(1, { type: 'text', text: '' }),
      delta(1, { type: 'text_delta', text: 'a' }),
      delta(1, { type: 'citations_delta', citation: { cited_text: 'x' } }),
      delta(1, { type: 'text_delta', text: 'b' }),
      open(2, { type: 'tool_use', id: 't', name: 'f', input: {} }),
      input(2, '{"a":'),
      input(2, '[1]}'),
      open(3, { type: 'tool_use', id: 'u', name: 'g', input: {} }),
      end,
      { type: 'message_stop' },
    ]);
    expect(message).toEqual({
      id: 'msg',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
        { type: 'text', text: 'ab', citations: [{ cited_text: 'x' }] },
        { type: 'tool_use', id: 't', name: 'f', input: { a: [1] } },
        { type: 'tool_use', id: 'u', name: 'g', input: {} },
      ],
      ...stopped,
      usage: { input_tokens: 3, output_tokens: 9 },
    });
  });

  it('keeps an input that a limit has cut off as text', () => {
    const events = [start, open(0, { type: 'tool_use', id: 't', name: 'f', input: {} }), input(0, '{"a":'), end];
    expect(assembleMessage(events)).toMatchObject({ content: [{ input: { _raw: '{"a":' } }] });
  });
});
