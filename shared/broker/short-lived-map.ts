interface Entry<Value> {
  value: Value | undefined;
}

/** Minimum deletions between two moves of the entries into a new `Map`. */
const minDeletions = 512;

/**
 * A map by id for entries that live as long as one request.
 *
 * V8's `Map` moves into a new table whenever as many entries were deleted as the table has room for. Each abandoned table keeps pointing to
 * the next table and to its own values. Once one abandoned table reaches the old generation of the heap, all later tables survive until the
 * next full collection, with everything that their values refer to. Every request would be copied twice and become garbage in the old
 * generation. So this map clears a value when its entry is deleted. It also regularly moves its entries into a new `Map`, to which no
 * abandoned table points.
 * See docs/decisions/0005-short-lived-maps.md.
 */
export class ShortLivedMap<Value extends object> {
  #entries = new Map<string, Entry<Value>>();
  #deletions = 0;

  get size(): number {
    return this.#entries.size;
  }

  get(id: string): Value | undefined {
    return this.#entries.get(id)?.value;
  }

  /** Adds an entry. There must be no entry with the same id. */
  set(id: string, value: Value): void {
    this.#entries.set(id, { value });
  }

  /** Deletes an entry. Returns false if there is no such entry. */
  delete(id: string): boolean {
    const entry = this.#entries.get(id);
    if (!entry) return false;
    entry.value = undefined;
    this.#entries.delete(id);
    this.#deletions += 1;
    if (this.#deletions > Math.max(minDeletions, this.#entries.size)) this.#moveToNewMap();
    return true;
  }

  /** Iterates over all values. Skips entries that are deleted meanwhile; may skip entries that are added meanwhile. */
  *values(): Generator<Value, void> {
    for (const { value } of this.#entries.values()) if (value) yield value;
  }

  #moveToNewMap(): void {
    this.#entries = new Map(this.#entries);
    this.#deletions = 0;
  }
}
