import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { ResponseEvents } from '../response-events.ts';

/**
 * Writes the events and items of one response whose content comes from several turns of a model. Numbers the events across turns and keeps
 * the ids of items unique.
 */
export class AnswerEvents {
  /** The items by position, as the client gets them. */
  readonly output: JsonObject[] = [];
  readonly #events = new ResponseEvents();
  /** Ids of the items of earlier turns. */
  readonly #used = new Set<string>();
  /** New ids of this turn's items whose own ids an earlier turn has used, by their own ids. */
  #renamed = new Map<string, string>();

  /** Begins a turn. From then on, an id that an earlier turn has used is replaced by a new id. */
  beginTurn(): void {
    for (const { id } of this.output) if (typeof id === 'string') this.#used.add(id);
    this.#renamed = new Map();
  }

  add(item: JsonObject): number {
    return this.output.push(item) - 1;
  }

  write(type: string, fields: JsonObject): string {
    return this.#events.write(type, fields);
  }

  /** Writes an event about the item at a position. */
  eventAt(position: number, type: string, fields: JsonObject = {}): string {
    return this.write(type, { output_index: position, item_id: this.output[position]?.['id'], ...fields });
  }

  /** Writes the event that begins or ends the item at a position, and stores the item there. */
  item(position: number, type: 'response.output_item.added' | 'response.output_item.done', item: JsonObject): string {
    this.output[position] = item;
    return this.write(type, { output_index: position, item });
  }

  /** Writes an event of the model's turn with the position that its item has in the answer. */
  writeRelayed(event: JsonObject, position: number | undefined): string {
    const { type, sequence_number: _, ...fields } = event as JsonObject & { type: string };
    const moved = {
      ...fields,
      ...(position !== undefined && { output_index: position }),
      ...(typeof fields['item_id'] === 'string' && { item_id: this.uniqueId(fields['item_id']) }),
    };
    return this.write(type, moved);
  }

  /** Returns an item of the model's turn with an id that is unique in the answer. */
  withOwnId(item: JsonObject): JsonObject {
    return typeof item['id'] === 'string' ? { ...item, id: this.uniqueId(item['id']) } : item;
  }

  uniqueId(id: string): string {
    if (!this.#used.has(id)) return id;
    const known = this.#renamed.get(id) ?? `${id}_${this.output.length}`;
    this.#renamed.set(id, known);
    return known;
  }
}

/** Returns the item of an event; an empty object if the event has none. */
export function itemOrEmpty({ item }: JsonObject): JsonObject {
  return isJsonObject(item) ? item : {};
}
