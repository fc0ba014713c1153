import { describe, expect, it } from 'vitest';
import { chatMessageParts } from '#shared/formats/chat/message-parts.ts';
import { readEvents, type MessageParts } from '#shared/formats/message-parts.ts';
import { messagesMessageParts } from '#shared/formats/messages/message-parts.ts';
import { responsesMessageParts } from '#shared/formats/responses/message-parts.ts';
import { upstreamStreams } from '../translate/upstream-streams.ts';

const responses = [
  { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
  done(0, { type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'hm' }] }),
  { type: 'response.output_text.delta', output_index: 1, delta: 'Hel' },
  { type: 'response.output_text.delta', output_index: 1, delta: 'lo' },
  done(1, { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello' }] }),
  done(2, { type: 'function_call', call_id: 'c0', name: 'f', arguments: '{"x":1}' }),
  done(3, { type: 'function_call', call_id: 'c1', name: 'g', arguments: '{}' }),
];
const ended = {
  type: 'response.completed',
  response: {
    id: 'r',
    status: 'completed',
    output: responses.flatMap((event) => ('item' in event ? [event.item] : [])),
  },
};

function done(at: number, item: object): object {
  return { type: 'response.output_item.done', output_index: at, item };
}

/** The streams with the number of events after which a text has come in part, and the finish reason. */
const streams: [string, MessageParts, readonly (object | string)[], number, string][] = [
  ['chat', chatMessageParts, upstreamStreams.chat, 4, 'stop'],
  ['messages', messagesMessageParts, upstreamStreams.messages, 7, 'tool_call'],
  ['responses', responsesMessageParts, [...responses, ended], 3, 'tool_call'],
];

describe.each(streams)('the message of a stream of %s', (_, { answer, joined }, events, inText, finish) => {
  const written = events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`);
  const thinking = { type: 'reasoning', content: 'hm' };

  it('is joined of its events', () => {
    expect(answer(joined(readEvents(`: waiting\n\n${written.join('')}`)))).toEqual([
      {
        role: 'assistant',
        parts: [
          thinking,
          { type: 'text', content: 'Hello' },
          { type: 'tool_call', id: 'c0', name: 'f', arguments: { x: 1 } },
          { type: 'tool_call', id: 'c1', name: 'g', arguments: {} },
        ],
        finish_reason: finish,
      },
    ]);
  });

  it('is what there is of one that was cut', () => {
    const cut = written
      .slice(0, inText + 1)
      .join('')
      .slice(0, -5);
    const text = expect.stringMatching(/^Hel?$/) as string;
    expect(answer(joined(readEvents(cut)))).toEqual([
      { role: 'assistant', parts: [thinking, { type: 'text', content: text }], finish_reason: 'error' },
    ]);
  });
});
