interface Entry<T> {
  item: T;
  weight: number;
  /** Claims that the item gets before it goes behind the others. */
  remainingClaims: number;
}

/**
 * Named items that share claims by weight. An item gets as many claims as its weight, then goes behind the other items. This is deficit
 * round robin with claims of equal cost.
 */
export class WeightedOrder<T> {
  readonly #entries = new Map<string, Entry<T>>();
  #totalWeight = 0;

  get size(): number {
    return this.#entries.size;
  }

  /** The sum of the weights of all items. */
  get totalWeight(): number {
    return this.#totalWeight;
  }

  get(name: string): T | undefined {
    return this.#entries.get(name)?.item;
  }

  /** Adds an item behind the others, and replaces one with the same name. */
  add(name: string, item: T, weight: number): void {
    this.delete(name);
    this.#entries.set(name, { item, weight, remainingClaims: weight });
    this.#totalWeight += weight;
  }

  /** Changes the weight of an item, which keeps its place. */
  setWeight(name: string, weight: number): void {
    const entry = this.#entries.get(name);
    if (!entry || entry.weight === weight) return;
    this.#totalWeight += weight - entry.weight;
    entry.weight = weight;
    entry.remainingClaims = Math.min(entry.remainingClaims, weight);
  }

  delete(name: string): void {
    this.#totalWeight -= this.#entries.get(name)?.weight ?? 0;
    this.#entries.delete(name);
  }

  /** Counts a claim of an item. After as many claims as its weight, the item goes behind the others. */
  countClaim(name: string): void {
    const entry = this.#entries.get(name);
    if (!entry) return;
    entry.remainingClaims -= 1;
    if (entry.remainingClaims > 0) return;
    entry.remainingClaims = entry.weight;
    this.#entries.delete(name);
    this.#entries.set(name, entry);
  }

  /** Iterates over the items with their names, next in line first. */
  *[Symbol.iterator](): Generator<[string, T]> {
    for (const [name, { item }] of this.#entries) yield [name, item];
  }
}
