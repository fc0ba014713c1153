interface Entry<T> {
  item: T;
  weight: number;
  /** Claims that the item gets before it goes behind the others. */
  left: number;
}

/**
 * Named items that share claims by weight. Each item gets as many claims as its weight, then goes behind the others. This is deficit round
 * robin with claims of equal cost.
 */
export class WeightedOrder<T> {
  readonly #entries = new Map<string, Entry<T>>();
  #weights = 0;

  get size(): number {
    return this.#entries.size;
  }

  get weights(): number {
    return this.#weights;
  }

  get(name: string): T | undefined {
    return this.#entries.get(name)?.item;
  }

  add(name: string, item: T, weight: number): void {
    this.delete(name);
    this.#entries.set(name, { item, weight, left: weight });
    this.#weights += weight;
  }

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

  /** Counts a claim of an item. After its last one, the item goes behind the others. */
  count(name: string): void {
    const entry = this.#entries.get(name);
    if (!entry) return;
    entry.left -= 1;
    if (entry.left > 0) return;
    entry.left = entry.weight;
    this.#entries.delete(name);
    this.#entries.set(name, entry);
  }

  /** Iterates over the items with their names, next in line first. */
  *[Symbol.iterator](): Generator<[string, T]> {
    for (const [name, { item }] of this.#entries) yield [name, item];
  }
}
