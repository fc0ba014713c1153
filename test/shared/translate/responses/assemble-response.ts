import { expect } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

export type ResponseEvent = JsonObject & { type: string; sequence_number: number };

export interface AssembledResponse {
  events: ResponseEvent[];
  /** The response object of the last event. */
  response: JsonObject;
  /** The items, assembled from their deltas. */
  items: JsonObject[];
}

/** Splits a stream into its events, and checks that each has its name. */
export function responseEvents(stream: string): ResponseEvent[] {
  const events = stream.split('\n\n');
  expect(events.pop()).toBe('');
  return events.map((text) => {
    const match = /^event: ([\w.]+)\ndata: ([^\n]*)$/.exec(text);
    const event = JSON.parse(match?.[2] ?? '') as ResponseEvent;
    expect(event.type).toBe(match?.[1]);
    return event;
  });
}

/** The field to which each delta event adds its text, in the item or in the part whose index the event names. */
const targets: Record<string, [part: 'content' | 'summary' | undefined, field: string]> = {
  'response.output_text': ['content', 'text'],
  'response.refusal': ['content', 'refusal'],
  'response.reasoning_text': ['content', 'text'],
  'response.reasoning_summary_text': ['summary', 'text'],
  'response.function_call_arguments': [undefined, 'arguments'],
  'response.custom_tool_call_input': [undefined, 'input'],
};

/** Assembles a Responses stream from its deltas alone, and checks numbers, nesting, and that the events at the end repeat the deltas. */
export function assembleResponse(stream: string): AssembledResponse {
  const events = responseEvents(stream);
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at));
  expect(events.slice(0, 2).map(({ type }) => type)).toEqual(['response.created', 'response.in_progress']);
  const items: JsonObject[] = [];
  let open: JsonObject | undefined;
  for (const event of events.slice(2, -1)) {
    const position = event['output_index'];
    if (event.type === 'response.output_item.added') {
      expect(open).toBeUndefined();
      expect(position).toBe(items.length);
      open = structuredClone(event['item'] as JsonObject);
      continue;
    }
    expect(position).toBe(items.length);
    if (!open) throw new Error(`${event.type} outside an item`);
    if (event.type === 'response.output_item.done') {
      const done = event['item'] as JsonObject;
      const { status: _, encrypted_content: __, ...shown } = done;
      // The arguments of a tool search are an object, which comes whole.
      if (open['type'] === 'tool_search_call') open['arguments'] = done['arguments'];
      expect(open).toMatchObject(shown);
      items.push(done);
      open = undefined;
      continue;
    }
    expect(event['item_id']).toBe(open['id']);
    apply(open, event);
  }
  expect(open).toBeUndefined();
  const response = events.at(-1)?.['response'] as JsonObject;
  expect(response['output']).toEqual(items);
  return { events, response, items };
}

function apply(item: JsonObject, event: ResponseEvent): void {
  const [, name = '', step] = /^(.*)\.(added|delta|done)$/.exec(event.type) ?? [];
  if (name === 'response.content_part' || name === 'response.reasoning_summary_part') {
    const parts = (name === 'response.content_part' ? item['content'] : item['summary']) as JsonObject[];
    const at = Number(event['content_index'] ?? event['summary_index']);
    if (step === 'done') expect(event['part']).toEqual(parts[at]);
    else {
      expect(at).toBe(parts.length);
      parts.push(structuredClone(event['part'] as JsonObject));
    }
    return;
  }
  const [list, field] = targets[name] ?? [undefined, ''];
  const parts = list === undefined ? [item] : (item[list] as JsonObject[]);
  const traits = parts[Number(event['content_index'] ?? event['summary_index'] ?? 0)];
  if (!isJsonObject(traits) || !(field in traits)) throw new Error(`${event.type} without its part`);
  const logprobs = event['logprobs'];
  if (step === 'delta' && Array.isArray(logprobs))
    traits['logprobs'] = [...(Array.isArray(traits['logprobs']) ? traits['logprobs'] : []), ...logprobs];
  if (step === 'delta') traits[field] = textOf(traits[field]) + textOf(event['delta']);
  else if (item['type'] === 'function_call' && traits[field] === '') traits[field] = '{}';
  if (step === 'done') expect(event[field]).toEqual(traits[field]);
  if (step === 'done' && logprobs !== undefined) expect(logprobs).toEqual(traits['logprobs']);
}

function textOf(value: Json | undefined): string {
  if (typeof value === 'string') return value;
  throw new Error('a delta without its text');
}
