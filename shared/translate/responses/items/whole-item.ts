import type { JsonObject } from '#shared/core/json.ts';
import type { ItemEvents, OpenItem } from './open-item.ts';

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
