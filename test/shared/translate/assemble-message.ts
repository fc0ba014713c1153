import { expect } from 'vitest';
import type { Json, JsonObject } from '#shared/core/json.ts';

export interface AssembledMessage {
  start: JsonObject;
  content: JsonObject[];
  delta: JsonObject;
  usage: JsonObject;
}

type Event = JsonObject & {
  type: string;
  index?: number;
  message?: JsonObject;
  content_block?: JsonObject & { type: string };
  delta?: JsonObject & { type?: string };
  usage?: JsonObject;
};

/** Splits a stream into its events, and checks that each has its name. */
export function namedEvents(stream: string): Event[] {
  const events = stream.split('\n\n');
  expect(events.pop()).toBe('');
  return events.map((text) => {
    const match = /^event: (\w+)\ndata: ([^\n]*)$/.exec(text);
    const event = JSON.parse(match?.[2] ?? '') as Event;
    expect(event.type).toBe(match?.[1]);
    return event;
  });
}

/** Assembles a messages stream as clients do, and checks the order that they rely on. */
export function assembleMessage(stream: string): AssembledMessage {
  const events = namedEvents(stream).filter(({ type }) => type !== 'ping');
  expect(events[0]?.type).toBe('message_start');
  expect(events.at(-1)?.type).toBe('message_stop');
  expect(events.at(-2)?.type).toBe('message_delta');
  const content: JsonObject[] = [];
  let open: { block: JsonObject; json: string } | undefined;
  for (const event of events.slice(1, -2)) {
    if (event.type === 'content_block_start') {
      expect(open).toBeUndefined();
      expect(event.index).toBe(content.length);
      open = { block: { ...event.content_block }, json: '' };
    } else {
      expect(event.index).toBe(content.length);
      if (!open) throw new Error(`${event.type} outside a block`);
      if (event.type === 'content_block_delta') apply(open, event.delta ?? {});
      else {
        expect(event.type).toBe('content_block_stop');
        if (open.json !== '') open.block['input'] = JSON.parse(open.json) as JsonObject;
        content.push(open.block);
        open = undefined;
      }
    }
  }
  expect(open).toBeUndefined();
  const { delta = {}, usage = {} } = events.at(-2) ?? {};
  return { start: events[0]?.message ?? {}, content, delta, usage };
}

function apply(open: { block: JsonObject; json: string }, delta: JsonObject & { type?: string }): void {
  const add = (field: string) => {
    open.block[field] = textOf(open.block[field]) + textOf(delta[field]);
  };
  switch (delta.type) {
    case 'text_delta':
      return add('text');
    case 'thinking_delta':
      return add('thinking');
    case 'signature_delta':
      return add('signature');
    case 'input_json_delta':
      open.json += textOf(delta['partial_json']);
      return;
    default:
      throw new Error(`an unknown delta: ${delta.type}`);
  }
}

function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  throw new Error('a delta without its text');
}
