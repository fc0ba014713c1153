import type { JsonObject } from '#shared/core/json.ts';

/** Writes the events of one item. */
export interface ItemEvents {
  id: string;
  /** Writes an event that carries the item itself. */
  writeItem(type: 'response.output_item.added' | 'response.output_item.done', item: JsonObject): string;
  /** Writes an event about a part of the item. */
  write(type: string, fields: JsonObject): string;
  /**
   * Writes an event about a part of the item, from fields that are JSON text already.
   * @param fields JSON text of an object, without the braces
   */
  writeText(type: string, fields: string): string;
}

/** An item of a response that is being written. Each method returns the events to send. */
export interface OpenItem {
  begin(): string;
  /**
   * Adds text to a message, to thinking, or to a call's arguments.
   * @param logprobs log probabilities of a message's text, if known
   */
  addText(text: string, logprobs?: readonly JsonObject[]): string;
  /**
   * Ends the item.
   * @param carried content of the item besides its text, such as an upstream's signature
   * @returns the events, and the whole item
   */
  close(status: 'completed' | 'incomplete', carried?: JsonObject): { events: string; item: JsonObject };
}

/** An item that arrives complete. Its only events are its beginning and its end. */
export class WholeItem implements OpenItem {
  readonly #events: ItemEvents;
  readonly #item: JsonObject;

  constructor(events: ItemEvents, item: JsonObject) {
    this.#events = events;
    this.#item = { id: events.id, ...item };
  }

  begin(): string {
    return this.#events.writeItem('response.output_item.added', this.#item);
  }

  addText(): string {
    return '';
  }

  close(): { events: string; item: JsonObject } {
    return { events: this.#events.writeItem('response.output_item.done', this.#item), item: this.#item };
  }
}
