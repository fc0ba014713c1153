import { describe, expect, it } from 'vitest';
import { messagesToMessages } from '#shared/translate/same-format/messages-to-messages.ts';
import { runStream } from '../run-stream.ts';
import { errorWith } from '../../../helpers/error-with.ts';

const answerContext = { id: 'msg_own', model: 'served', created: 7 };
const start =
  '{"type":"message_start","message":{"id":"msg_up","model":"up","content":[],"x":1,"usage":{"input_tokens":3,"cache_read_input_tokens":2,"output_tokens":1}}}';
const rest = [
  '{"type": "ping"}',
  '{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":"EqQB"}}',
  '{"index":0, "type":"content_block_delta","delta":{"type":"brand_new","n":1.0}}',
  '{"type":"content_block_stop","index":0 }',
  '{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}',
  '{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}',
  '{"type":"message_stop"}',
];

describe('a messages stream from a messages upstream', () => {
  it('passes byte for byte except for id and model, each event with its name', () => {
    const { text, ending } = runStream(messagesToMessages.createStream(answerContext), [start, ...rest]);
    const begun = start.replace('msg_up', 'msg_own').replace('"up"', '"served"');
    const named = [begun, ...rest].map(
      (data) => `event: ${(JSON.parse(data) as { type: string }).type}\ndata: ${data}`,
    );
    expect(text).toBe(`${named.join('\n\n')}\n\n`);
    expect(ending).toEqual({
      finishReason: 'tool_calls',
      usage: { promptTokens: 5, cachedTokens: 2, cacheWriteTokens: 0, completionTokens: 9, reasoningTokens: 0 },
    });
  });

  it('keeps an event with data of several lines together', () => {
    const events = [start, '{"type":\n"ping"}', '{"type":"message_stop"}'];
    const { text } = runStream(messagesToMessages.createStream(answerContext), events);
    expect(text).toContain('event: ping\ndata: {"type":"ping"}\n\n');
  });

  it('gets its last event if the upstream leaves it out, and fails without a stop reason', () => {
    const [whole, unclosed, cut] = [0, -1, -2].map((end) => [start, ...rest.slice(0, rest.length + end)]);
    const run = (events: string[] = []) => runStream(messagesToMessages.createStream(answerContext), events);
    expect(run(unclosed)).toEqual(run(whole));
    expect(() => run(cut)).toThrow(errorWith('upstream_failed'));
  });
});
