import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { ResponseEvents } from '../response-events.ts';

/** The events and items of one response that several turns of a model write: numbered through, with ids that differ. */
export class AnswerEvents {
  /** The items by their position, as the client sees them. */
  readonly output: JsonObject[] = [];
  readonly #events = new ResponseEvents();
  /** Ids of earlier turns, and those that replace them in this one. */
  readonly #used = new Set<string>();
  #renamed = new Map<string, string>();

  /** A turn begins: an id that an earlier one has used gets another one. */
  beginTurn(): void {
    for (const { id } of this.output) if (typeof id === 'string') this.#used.add(id);
    this.#renamed = new Map();
  }

  /** Adds an item at the next position, and returns the position. */
  add(item: JsonObject): number {
    return this.output.push(item) - 1;
  }

  /** Writes an event with the next number. */
  write(type: string, fields: JsonObject): string {
    return this.#events.write(type, fields);
  }

  /** Writes an event about the item at a position. */
  about(position: number, type: string, fields: JsonObject = {}): string {
    return this.write(type, { output_index: position, item_id: this.output[position]?.['id'], ...fields });
  }

  /** Writes the event that begins or ends the item at a position, and keeps the item. */
  item(position: number, type: 'response.output_item.added' | 'response.output_item.done', item: JsonObject): string {
    this.output[position] = item;
    return this.write(type, { output_index: position, item });
  }

  /** An event of the model's turn, at the position that its item has in the answer. */
  relay(event: JsonObject, position: number | undefined): string {
    const { type, sequence_number: _, ...fields } = event as JsonObject & { type: string };
    const moved = {
      ...fields,
      ...(position !== undefined && { output_index: position }),
      ...(typeof fields['item_id'] === 'string' && { item_id: this.renamed(fields['item_id']) }),
    };
    return this.write(type, moved);
  }

  /** An item of the model's turn with an id of its own. */
  withOwnId(item: JsonObject): JsonObject {
    return typeof item['id'] === 'string' ? { ...item, id: this.renamed(item['id']) } : item;
  }

  renamed(id: string): string {
    if (!this.#used.has(id)) return id;
    const known = this.#renamed.get(id) ?? `${id}_${this.output.length}`;
    this.#renamed.set(id, known);
    return known;
  }
}

/** The item of an event; an empty one if it has none. */
export function itemOf({ item }: JsonObject): JsonObject {
  return isJsonObject(item) ? item : {};
}
