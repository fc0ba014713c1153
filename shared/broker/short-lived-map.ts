/** Holds an entry's value until the entry is deleted. */
interface Slot<Value> {
  value: Value | undefined;
}

/** The map starts anew after this many deletions at the earliest. */
const minDeleted = 512;

/**
 * A map by id for what comes and goes with every request.
 *
 * V8's own `Map` moves into a new table every time as many entries were deleted as it has room for, and each left table keeps
 * pointing to the next one and to all values it had. Once one of them has grown old enough for the old generation of
 * the heap, all that come after it are kept, with everything that their values refer to, until the next full collection: every
 * request would be copied twice and end as garbage there. This map lets go of a value itself, when its entry is deleted,
 * and cuts the chain of tables from time to time: it goes on in a new `Map`, which no left table points to.
 */
export class ShortLivedMap<Value extends object> {
  #slots = new Map<string, Slot<Value>>();
  /** Entries that were deleted since the map last started anew. */
  #deleted = 0;

  get size(): number {
    return this.#slots.size;
  }

  get(id: string): Value | undefined {
    return this.#slots.get(id)?.value;
  }

  /** An entry of the same id must have been deleted before. */
  set(id: string, value: Value): void {
    this.#slots.set(id, { value });
  }

  /** @returns false when there is no such entry */
  delete(id: string): boolean {
    const slot = this.#slots.get(id);
    if (!slot) return false;
    slot.value = undefined;
    this.#slots.delete(id);
    this.#deleted += 1;
    if (this.#deleted > Math.max(minDeleted, this.#slots.size)) this.#startAnew();
    return true;
  }

  /** Entries may be deleted meanwhile, and are left out then; those that are added meanwhile may be left out, too. */
  *values(): Generator<Value, void> {
    for (const { value } of this.#slots.values()) if (value) yield value;
  }

  #startAnew(): void {
    this.#slots = new Map(this.#slots);
    this.#deleted = 0;
  }
}
