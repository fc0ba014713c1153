import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { AnswerContext } from '../translation.ts';
import { readArguments, readThinkingText } from '../upstreams/responses/item-pieces.ts';
import { addRequiredFields } from './response-fields.ts';

export type TypedEvent = JsonObject & { type: string };

interface OpenItem {
  index: number;
  /** Whether the item's one content part has begun. */
  hasPart: boolean;
  /** Whether the last event reported the item's text, arguments or part as done. */
  isDone: boolean;
}

/** Matches the events about a content part of an item. Other events with an `item_id` concern the item itself. */
const contentEvents = /^response\.(?:content_part|output_text|refusal|reasoning_text)\./;
const summaryEvents = /^response\.reasoning_summary/;

/**
 * Completes the events of a server that leaves out fields and events that clients need to assemble answers, such as llama-server. Adds the
 * numbers of events, items and parts, the beginning and end of reasoning text, the end of arguments, and most of the response object.
 */
export class EventCompletion {
  readonly #answerContext: AnswerContext;
  readonly #items = new Map<Json | undefined, OpenItem>();
  #nextNumber = 0;

  constructor(answerContext: AnswerContext) {
    this.#answerContext = answerContext;
  }

  /** Returns the events to send for one event of the server, in order. */
  complete(event: JsonObject): TypedEvent[] {
    const { type, item, response } = event;
    if (isJsonObject(response))
      return [this.#addNumber({ ...event, response: addRequiredFields(response, this.#answerContext) })];
    if (type === 'response.output_item.added' && isJsonObject(item)) {
      const index = this.#items.size;
      this.#items.set(item['id'], { index, hasPart: false, isDone: false });
      return [this.#addNumber({ ...event, output_index: index })];
    }
    if (type === 'response.output_item.done' && isJsonObject(item)) return this.#endItem(event, item);
    const openItem = this.#items.get(event['item_id']);
    if (!openItem || typeof type !== 'string') return [this.#addNumber(event)];
    const begin = type === 'response.reasoning_text.delta' ? this.#beginReasoning(event, openItem) : [];
    openItem.isDone = type.endsWith('.done');
    return [...begin, this.#addNumber(this.#addPlace(event, type, openItem))];
  }

  #beginReasoning({ item_id: id }: JsonObject, openItem: OpenItem): TypedEvent[] {
    if (openItem.hasPart) return [];
    openItem.hasPart = true;
    const part = { type: 'reasoning_text', text: '' };
    return [
      this.#createEvent('response.content_part.added', {
        item_id: id,
        output_index: openItem.index,
        content_index: 0,
        part,
      }),
    ];
  }

  #endItem(event: JsonObject, item: JsonObject): TypedEvent[] {
    const id = item['id'];
    const openItem = this.#items.get(id);
    const place = { item_id: id, output_index: openItem?.index ?? 0 };
    const done = this.#findMissingEnds(openItem, item).map(([type, fields]) =>
      this.#createEvent(type, { ...place, ...fields }),
    );
    return [...done, this.#addNumber({ ...event, output_index: openItem?.index ?? 0 })];
  }

  /** Returns the events that end an item's text or arguments if the server sent none. */
  #findMissingEnds(openItem: OpenItem | undefined, item: JsonObject): [string, JsonObject][] {
    if (!openItem || openItem.isDone) return [];
    if (item['type'] === 'function_call') {
      return [['response.function_call_arguments.done', { name: item['name'], arguments: readArguments(item) }]];
    }
    if (item['type'] !== 'reasoning' || !openItem.hasPart) return [];
    const text = readThinkingText(item);
    return [
      ['response.reasoning_text.done', { content_index: 0, text }],
      ['response.content_part.done', { content_index: 0, part: { type: 'reasoning_text', text } }],
    ];
  }

  #addPlace(event: JsonObject, type: string, { index }: OpenItem): JsonObject {
    const place = { output_index: index };
    if (contentEvents.test(type)) return { content_index: 0, ...event, ...place };
    return summaryEvents.test(type) ? { summary_index: 0, ...event, ...place } : { ...event, ...place };
  }

  #createEvent(type: string, fields: JsonObject): TypedEvent {
    return this.#addNumber({ type, ...fields });
  }

  #addNumber({ type, ...fields }: JsonObject): TypedEvent {
    return { type: typeof type === 'string' ? type : '', sequence_number: this.#nextNumber++, ...fields };
  }
}
