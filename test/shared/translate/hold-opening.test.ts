import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { holdOpening } from '#shared/translate/hold-opening.ts';
import { clientsOf, translationBetween } from './translation-between.ts';
import { callPiece, chatChunk, messageEnd, messageStart, responseEnd } from './upstream-streams.ts';
import { said } from '../../helpers/formats/said.ts';

const answerContext = { id: 'x-1', model: 'm', created: 1, promptTokens: () => 1 };

const block = (content: JsonObject): JsonObject => ({ type: 'content_block_start', index: 0, content_block: content });
const item = (type: string, fields: JsonObject): JsonObject => ({
  type: 'response.output_item.added',
  output_index: 0,
  item: { id: 'i', type, ...fields },
});
const response = { id: 'r', model: 'm', output: [] };

/** By upstream format: the events before the first content, the kinds of first content, and the end of an empty answer. */
const streams: Record<string, { opening: JsonObject[]; contents: Record<string, JsonObject>; end: JsonObject[] }> = {
  chat: {
    opening: [chatChunk({ role: 'assistant' }), chatChunk(said('assistant', '')), chatChunk({ content: null })],
    contents: {
      text: chatChunk({ content: 'Hi' }),
      thinking: chatChunk({ reasoning_content: 'Hm' }),
      refusal: chatChunk({ refusal: 'No' }),
      'a tool call': callPiece(0, '', 'look'),
    },
    end: [chatChunk({}, 'stop')],
  },
  messages: {
    opening: [messageStart, { type: 'ping' }],
    contents: {
      text: { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
      'thinking whose text is omitted': block({ type: 'thinking', thinking: '', signature: '' }),
      'a tool call': block({ type: 'tool_use', id: 'c', name: 'look', input: {} }),
    },
    end: messageEnd('end_turn'),
  },
  responses: {
    opening: [
      { type: 'response.created', sequence_number: 0, response },
      { type: 'response.in_progress', sequence_number: 1, response },
      { type: 'keepalive', sequence_number: 2 },
      item('message', { content: [] }),
      { type: 'response.content_part.added', item_id: 'i', part: { type: 'output_text', text: '' } },
    ],
    contents: {
      text: { type: 'response.output_text.delta', item_id: 'i', delta: 'Hi' },
      'thinking whose text is omitted': item('reasoning', { summary: [] }),
      'a tool call': item('function_call', { call_id: 'c', name: 'look', arguments: '' }),
    },
    end: [responseEnd()],
  },
};

/** By client format: the content of a whole stream, and its end. */
const wholes: Record<string, { opening: string; end: RegExp }> = {
  chat: { opening: '"role":"assistant"', end: /\[DONE\]$/ },
  messages: { opening: 'message_start', end: /"type":\s?"message_stop"\}$/ },
  responses: { opening: 'response.created', end: /^data: \{"type":"response.completed".*\}$/m },
};

const pairs = Object.entries(streams).flatMap(([upstream, of]) =>
  clientsOf(upstream).map((client) => ({ client, upstream, of })),
);

describe.each(pairs)('the opening of a stream from $upstream to $client', ({ client, upstream, of }) => {
  const open = () => holdOpening(translationBetween(client, upstream).createStream(answerContext));
  const [opening, end] = [of.opening, of.end].map((events) => events.map((event) => JSON.stringify(event)));

  it.each(Object.entries(of.contents))('is written together with the first content: %s', (_, content) => {
    const stream = open();
    expect(opening?.map((event) => stream.translateEvent(event))).toEqual(opening?.map(() => ''));
    expect(stream.hasContent).toBe(false);
    const atOnce = translationBetween(client, upstream).createStream(answerContext);
    const whole = [...(opening ?? []), JSON.stringify(content)].map((event) => atOnce.translateEvent(event)).join('');
    expect(stream.translateEvent(JSON.stringify(content))).toBe(whole);
    expect(stream.hasContent).toBe(true);
  });

  it('is written at the end of an answer without content', () => {
    const stream = open();
    const written = [...(opening ?? []), ...(end ?? [])].map((event) => stream.translateEvent(event)).join('');
    expect(stream.hasContent).toBe(false);
    const text = written + stream.translateEnd().text;
    expect(text).toContain(wholes[client]?.opening);
    expect(text.trimEnd()).toMatch(wholes[client]?.end ?? '');
  });
});

it('the opening of a stream is relayed from 64 KiB on', () => {
  const stream = holdOpening(translationBetween('chat', 'chat').createStream(answerContext));
  let events = 0;
  const event = JSON.stringify(chatChunk(said('assistant', '')));
  while (stream.translateEvent(event) === '') events += 1;
  expect(events).toBeGreaterThan(100);
  expect(events).toBeLessThan(1_000);
});
