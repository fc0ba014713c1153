import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { AnswerContext } from '../translation.ts';
import { readArguments, readThinkingText } from '../upstreams/responses/item-pieces.ts';
import { withRequiredFields } from './complete-response.ts';

export type TypedEvent = JsonObject & { type: string };

interface OpenItem {
  index: number;
  /** Whether the item's one content part has begun. */
  hasPart: boolean;
  /** Whether the last event reported the item's text, arguments or part as done. */
  isDone: boolean;
}

/** Matches the events about a content part of an item. Other events with an `item_id` are about the item itself. */
const ofContent = /^response\.(?:content_part|output_text|refusal|reasoning_text)\./;
const ofSummary = /^response\.reasoning_summary/;

/**
 * Completes the events of a server, such as llama-server, that leaves out fields and events by which clients assemble answers. These are
 * the numbers of events, items and parts, the beginning and end of reasoning text, the end of arguments, and most of the response object.
 */
export class EventCompletion {
  readonly #answerContext: AnswerContext;
  readonly #items = new Map<Json | undefined, OpenItem>();
  #next = 0;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
  }

  /** Returns the events to send for one event of the server, in order. */
  complete(event: JsonObject): TypedEvent[] {
    const { type, item, response } = event;
    if (isJsonObject(response))
      return [this.#numbered({ ...event, response: withRequiredFields(response, this.#answerContext) })];
    if (type === 'response.output_item.added' && isJsonObject(item)) {
      const index = this.#items.size;
      this.#items.set(item['id'], { index, hasPart: false, isDone: false });
      return [this.#numbered({ ...event, output_index: index })];
    }
    if (type === 'response.output_item.done' && isJsonObject(item)) return this.#endItem(event, item);
    const open = this.#items.get(event['item_id']);
    if (!open || typeof type !== 'string') return [this.#numbered(event)];
    const begin = type === 'response.reasoning_text.delta' ? this.#beginReasoning(event, open) : [];
    open.isDone = type.endsWith('.done');
    return [...begin, this.#numbered(this.#placed(event, type, open))];
  }

  #beginReasoning({ item_id: id }: JsonObject, open: OpenItem): TypedEvent[] {
    if (open.hasPart) return [];
    open.hasPart = true;
    const part = { type: 'reasoning_text', text: '' };
    return [
      this.#added('response.content_part.added', { item_id: id, output_index: open.index, content_index: 0, part }),
    ];
  }

  #endItem(event: JsonObject, item: JsonObject): TypedEvent[] {
    const id = item['id'];
    const open = this.#items.get(id);
    const place = { item_id: id, output_index: open?.index ?? 0 };
    const done = this.#ending(open, item).map(([type, fields]) => this.#added(type, { ...place, ...fields }));
    return [...done, this.#numbered({ ...event, output_index: open?.index ?? 0 })];
  }

  /** Returns the events that end an item's text or arguments if the server sent none. */
  #ending(open: OpenItem | undefined, item: JsonObject): [string, JsonObject][] {
    if (!open || open.isDone) return [];
    if (item['type'] === 'function_call') {
      return [['response.function_call_arguments.done', { name: item['name'], arguments: readArguments(item) }]];
    }
    if (item['type'] !== 'reasoning' || !open.hasPart) return [];
    const text = readThinkingText(item);
    return [
      ['response.reasoning_text.done', { content_index: 0, text }],
      ['response.content_part.done', { content_index: 0, part: { type: 'reasoning_text', text } }],
    ];
  }

  #placed(event: JsonObject, type: string, { index }: OpenItem): JsonObject {
    const place = { output_index: index };
    if (ofContent.test(type)) return { content_index: 0, ...event, ...place };
    return ofSummary.test(type) ? { summary_index: 0, ...event, ...place } : { ...event, ...place };
  }

  #added(type: string, fields: JsonObject): TypedEvent {
    return this.#numbered({ type, ...fields });
  }

  #numbered({ type, ...fields }: JsonObject): TypedEvent {
    return { type: typeof type === 'string' ? type : '', sequence_number: this.#next++, ...fields };
  }
}
