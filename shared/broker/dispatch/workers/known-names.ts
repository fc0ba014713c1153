import type { Tier } from '#shared/core/tier.ts';

export class KnownNames {
  readonly #tiers = new Map<string, ReadonlySet<Tier>>();
  readonly #maxNames: number;

  /** @param maxNames maximum number of names; beyond it the oldest is dropped */
  constructor(maxNames = 1_000) {
    this.#maxNames = maxNames;
  }

  has(name: string): boolean {
    return this.#tiers.has(name);
  }

  tiersOf(name: string): ReadonlySet<Tier> | undefined {
    return this.#tiers.get(name);
  }

  /** Adds a name, or moves it to the newest place. */
  add(name: string, tier: Tier): void {
    const tiers = new Set(this.#tiers.get(name)).add(tier);
    this.#tiers.delete(name);
    this.#tiers.set(name, tiers);
    for (const oldest of this.#tiers.keys()) {
      if (this.#tiers.size <= this.#maxNames) break;
      this.#tiers.delete(oldest);
    }
  }
}
