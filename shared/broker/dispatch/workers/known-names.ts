import type { Tier } from '#shared/core/tier.ts';

/** A bounded list of names of models or tools, with the tiers that use them. */
export class KnownNames {
  readonly #tiersByName = new Map<string, ReadonlySet<Tier>>();
  readonly #maxNames: number;

  /** @param maxNames the maximum number of names; beyond it, the oldest name is dropped */
  constructor(maxNames = 1_000) {
    this.#maxNames = maxNames;
  }

  has(name: string): boolean {
    return this.#tiersByName.has(name);
  }

  /** Returns the tiers of a name; undefined if the name is not in the list. */
  getTiers(name: string): ReadonlySet<Tier> | undefined {
    return this.#tiersByName.get(name);
  }

  /** Adds a tier to a name, and makes the name the newest one. */
  add(name: string, tier: Tier): void {
    const tiers = new Set(this.#tiersByName.get(name)).add(tier);
    this.#tiersByName.delete(name);
    this.#tiersByName.set(name, tiers);
    for (const oldest of this.#tiersByName.keys()) {
      if (this.#tiersByName.size <= this.#maxNames) break;
      this.#tiersByName.delete(oldest);
    }
  }
}
