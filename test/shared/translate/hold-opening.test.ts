import { describe, expect, it } from 'vitest';
import { holdOpening } from '#shared/translate/hold-opening.ts';
import { clientsOf, translationBetween } from './translation-between.ts';

const minted = { id: 'x-1', model: 'm', created: 1, promptTokens: () => 1 };

const chat = (delta: object, finishReason: string | null = null): string =>
  JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finishReason }] });
const block = (index: number, content: object): string =>
  JSON.stringify({ type: 'content_block_start', index, content_block: content });
const delta = (piece: object): string => JSON.stringify({ type: 'content_block_delta', index: 0, delta: piece });

const item = (type: string, fields: object): string =>
  JSON.stringify({ type: 'response.output_item.added', output_index: 0, item: { id: 'i', type, ...fields } });

/** By upstream format: what comes before the first content, the kinds of first content, and the end of an empty answer. */
const streams: Record<string, { opening: string[]; contents: Record<string, string>; end: string[] }> = {
  chat: {
    opening: [chat({ role: 'assistant' }), chat({ role: 'assistant', content: '' }), chat({ content: null })],
    contents: {
      text: chat({ content: 'Hi' }),
      thinking: chat({ reasoning_content: 'Hm' }),
      refusal: chat({ refusal: 'No' }),
      'a tool call': chat({ tool_calls: [{ index: 0, id: 'c', function: { name: 'look', arguments: '' } }] }),
    },
    end: [chat({}, 'stop'), '[DONE]'],
  },
  messages: {
    opening: [
      JSON.stringify({ type: 'message_start', message: { id: 'm', usage: { input_tokens: 3 } } }),
      JSON.stringify({ type: 'ping' }),
    ],
    contents: {
      text: delta({ type: 'text_delta', text: 'Hi' }),
      'thinking whose text is omitted': block(0, { type: 'thinking', thinking: '', signature: '' }),
      'a tool call': block(0, { type: 'tool_use', id: 'c', name: 'look', input: {} }),
    },
    end: [
      JSON.stringify({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 0 } }),
      JSON.stringify({ type: 'message_stop' }),
    ],
  },
  responses: {
    opening: [
      JSON.stringify({ type: 'response.created', sequence_number: 0, response: { id: 'r', model: 'm', output: [] } }),
      JSON.stringify({
        type: 'response.in_progress',
        sequence_number: 1,
        response: { id: 'r', model: 'm', output: [] },
      }),
      JSON.stringify({ type: 'keepalive', sequence_number: 2 }),
      item('message', { content: [] }),
      JSON.stringify({ type: 'response.content_part.added', item_id: 'i', part: { type: 'output_text', text: '' } }),
    ],
    contents: {
      text: JSON.stringify({ type: 'response.output_text.delta', item_id: 'i', delta: 'Hi' }),
      'thinking whose text is omitted': item('reasoning', { summary: [] }),
      'a tool call': item('function_call', { call_id: 'c', name: 'look', arguments: '' }),
    },
    end: [JSON.stringify({ type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } })],
  },
};

/** By client format: what a whole stream contains, and its end. */
const wholes: Record<string, { opening: string; end: RegExp }> = {
  chat: { opening: '"role":"assistant"', end: /\[DONE\]$/ },
  messages: { opening: 'message_start', end: /"type":\s?"message_stop"\}$/ },
  responses: { opening: 'response.created', end: /^data: \{"type":"response.completed".*\}$/m },
};

const pairs = Object.entries(streams).flatMap(([upstream, of]) =>
  clientsOf(upstream).map((client) => ({ client, upstream, of })),
);

describe.each(pairs)('the opening of a stream from $upstream to $client', ({ client, upstream, of }) => {
  const open = () => holdOpening(translationBetween(client, upstream).stream(minted));
  const allAtOnce = (events: string[]): string => {
    const translation = translationBetween(client, upstream).stream(minted);
    return events.map((event) => translation.event(event)).join('');
  };

  it.each(Object.entries(of.contents))('is written together with the first content: %s', (_, content) => {
    const stream = open();
    expect(of.opening.map((event) => stream.event(event))).toEqual(of.opening.map(() => ''));
    expect(stream.hasContent).toBe(false);
    expect(stream.event(content)).toBe(allAtOnce([...of.opening, content]));
    expect(stream.hasContent).toBe(true);
  });

  it('is written at the end of an answer without content', () => {
    const stream = open();
    let text = '';
    for (const event of [...of.opening, ...of.end]) text += stream.event(event);
    expect(stream.hasContent).toBe(false);
    text += stream.end().text;
    expect(text).toContain(wholes[client]?.opening);
    expect(text.trimEnd()).toMatch(wholes[client]?.end ?? '');
  });
});

it('an opening that never ends is relayed from 64 KiB on', () => {
  const stream = holdOpening(translationBetween('chat', 'chat').stream(minted));
  let events = 0;
  while (stream.event(chat({ role: 'assistant', content: '' })) === '') events += 1;
  expect(events).toBeGreaterThan(100);
  expect(events).toBeLessThan(1_000);
});
