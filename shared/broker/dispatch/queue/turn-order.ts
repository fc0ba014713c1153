interface Entry<T> {
  item: T;
  weight: number;
  /** Turns that it has before the others come first. */
  left: number;
}

/**
 * Named items that take turns by weight: each has as many turns as its weight, then goes behind the others. This is deficit round
 * robin with turns that all cost the same.
 */
export class TurnOrder<T> {
  readonly #entries = new Map<string, Entry<T>>();
  #weights = 0;

  get size(): number {
    return this.#entries.size;
  }

  /** The weights of all items together. */
  get weights(): number {
    return this.#weights;
  }

  get(name: string): T | undefined {
    return this.#entries.get(name)?.item;
  }

  /** Adds an item behind the others. */
  add(name: string, item: T, weight: number): void {
    this.delete(name);
    this.#entries.set(name, { item, weight, left: weight });
    this.#weights += weight;
  }

  /** Changes the weight of an item that is here. */
  reweigh(name: string, weight: number): void {
    const entry = this.#entries.get(name);
    if (!entry || entry.weight === weight) return;
    this.#weights += weight - entry.weight;
    entry.weight = weight;
    entry.left = Math.min(entry.left, weight);
  }

  delete(name: string): void {
    this.#weights -= this.#entries.get(name)?.weight ?? 0;
    this.#entries.delete(name);
  }

  /** An item had a turn. */
  count(name: string): void {
    const entry = this.#entries.get(name);
    if (!entry) return;
    entry.left -= 1;
    if (entry.left > 0) return;
    entry.left = entry.weight;
    this.#entries.delete(name);
    this.#entries.set(name, entry);
  }

  /** The items with their names, the one whose turn it is first. */
  *[Symbol.iterator](): Generator<[string, T]> {
    for (const [name, { item }] of this.#entries) yield [name, item];
  }
}
