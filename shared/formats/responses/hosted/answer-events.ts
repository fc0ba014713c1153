import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { ResponseEvents } from '../event-numbers.ts';

/**
 * Writes the events and items of one response to which several turns of a model contribute. Numbers the events across turns, and keeps the
 * ids of items unique.
 */
export class AnswerEvents {
  /** The items by position, as the client gets them. */
  readonly output: JsonObject[] = [];
  readonly #events = new ResponseEvents();
  /** Ids of the items of earlier turns. */
  readonly #usedIds = new Set<string>();
  /** Maps the ids of this turn's items to new ids, for ids that an earlier turn has used. */
  #newIds = new Map<string, string>();

  /** Begins a turn. In this turn, an id that an earlier turn has used is replaced with a new id. */
  beginTurn(): void {
    for (const { id } of this.output) if (typeof id === 'string') this.#usedIds.add(id);
    this.#newIds = new Map();
  }

  add(newItem: JsonObject): number {
    return this.output.push(newItem) - 1;
  }

  write(type: string, fields: JsonObject): string {
    return this.#events.write(type, fields);
  }

  /** Writes an event about the item at a position. */
  writeEventAt(position: number, type: string, fields: JsonObject = {}): string {
    return this.write(type, { output_index: position, item_id: this.output[position]?.['id'], ...fields });
  }

  /** Writes the event that begins or ends the item at a position, and stores the item there. */
  writeItem(
    position: number,
    type: 'response.output_item.added' | 'response.output_item.done',
    item: JsonObject,
  ): string {
    this.output[position] = item;
    return this.write(type, { output_index: position, item });
  }

  /** Writes an event of the model's turn. Its item gets the position and the id that the item has in the answer. */
  writeRelayed(event: JsonObject, position: number | undefined): string {
    const { type, sequence_number: _, ...fields } = event as JsonObject & { type: string };
    const movedFields = {
      ...fields,
      ...(position !== undefined && { output_index: position }),
      ...(typeof fields['item_id'] === 'string' && { item_id: this.toUniqueId(fields['item_id']) }),
    };
    return this.write(type, movedFields);
  }

  /** Returns an item of the model's turn with an id that is unique in the answer. */
  withUniqueId(item: JsonObject): JsonObject {
    return typeof item['id'] === 'string' ? { ...item, id: this.toUniqueId(item['id']) } : item;
  }

  toUniqueId(id: string): string {
    if (!this.#usedIds.has(id)) return id;
    const newId = this.#newIds.get(id) ?? `${id}_${this.output.length}`;
    this.#newIds.set(id, newId);
    return newId;
  }
}

/** Returns the item of an event; an empty object if the event has none. */
export function readItem({ item }: JsonObject): JsonObject {
  return isJsonObject(item) ? item : {};
}
