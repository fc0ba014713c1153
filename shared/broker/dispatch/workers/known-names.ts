import type { Tier } from '#shared/core/tier.ts';

/** Names kept at most; beyond it the oldest goes first. */
const maxNames = 1_000;

/**
 * Names of models, or of tools, that lost pools have served, with their tiers: a request for one of them waits instead of being
 * answered with 404.
 */
export class KnownNames {
  readonly #tiers = new Map<string, ReadonlySet<Tier>>();

  has(name: string): boolean {
    return this.#tiers.has(name);
  }

  tiersOf(name: string): ReadonlySet<Tier> | undefined {
    return this.#tiers.get(name);
  }

  /** Adds a name as the newest. */
  add(name: string, tier: Tier): void {
    const tiers = new Set(this.#tiers.get(name)).add(tier);
    this.#tiers.delete(name);
    this.#tiers.set(name, tiers);
    for (const oldest of this.#tiers.keys()) {
      if (this.#tiers.size <= maxNames) break;
      this.#tiers.delete(oldest);
    }
  }
}
