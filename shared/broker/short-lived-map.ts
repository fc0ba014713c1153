interface Slot<Value> {
  value: Value | undefined;
}

/** Minimum number of deletions between two moves into a new `Map`. */
const minDeleted = 512;

/**
 * A map by id for entries that live as long as one request.
 *
 * V8's `Map` moves into a new table whenever as many entries were deleted as it has room for. Each abandoned table keeps pointing to the
 * next one and to its values. Once one of them reaches the old generation of the heap, all later ones survive, with everything that their
 * values refer to, until the next full collection. Every request would be copied twice and become garbage there. This map clears a value
 * when its entry is deleted, and regularly cuts the chain of tables by moving into a new `Map`, to which no abandoned table points.
 * See docs/decisions/0005-short-lived-maps.md.
 */
export class ShortLivedMap<Value extends object> {
  #slots = new Map<string, Slot<Value>>();
  #deleted = 0;

  get size(): number {
    return this.#slots.size;
  }

  get(id: string): Value | undefined {
    return this.#slots.get(id)?.value;
  }

  /** Adds an entry. There must be none with the same id. */
  set(id: string, value: Value): void {
    this.#slots.set(id, { value });
  }

  /** Deletes an entry. Returns false if there is none. */
  delete(id: string): boolean {
    const slot = this.#slots.get(id);
    if (!slot) return false;
    slot.value = undefined;
    this.#slots.delete(id);
    this.#deleted += 1;
    if (this.#deleted > Math.max(minDeleted, this.#slots.size)) this.#moveToNewMap();
    return true;
  }

  /** Iterates over all values. Skips entries that are deleted meanwhile; may skip entries that are added meanwhile. */
  *values(): Generator<Value, void> {
    for (const { value } of this.#slots.values()) if (value) yield value;
  }

  #moveToNewMap(): void {
    this.#slots = new Map(this.#slots);
    this.#deleted = 0;
  }
}
