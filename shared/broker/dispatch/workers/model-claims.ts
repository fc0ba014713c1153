import type { ModelInfo } from '../../contract/announcement.ts';
import { openOwner, type WorkerAddress } from '../../contract/worker-address.ts';
import { KnownNames } from './known-names.ts';
import type { LiveWorker } from './live-pool.ts';

/** The models and the tools that workers may serve, by their credential: names, or what names begin with, followed by `*`. */
export type CredentialEntries = Readonly<
  Record<string, { models?: readonly string[] | undefined; tools?: readonly string[] | undefined }>
>;

/** Names that are remembered for their tiers. */
const maxNames = 10_000;

/**
 * Decides which models a worker may serve, by its credential. One with an entry in the registry may serve what that names. Without an
 * entry, it may not take names from another tier: those that workers of that tier's own credential, or of one with an entry, serve or
 * have served since this process started. Workers of the tools tier serve none. See docs/decisions/0042-models-of-credentials.md.
 */
export class ModelClaims {
  #granted: CredentialEntries = {};
  readonly #names = new KnownNames(maxNames);

  /** Replaces the entries of all credentials. */
  grant(granted: CredentialEntries): void {
    this.#granted = granted;
  }

  mayServe({ tier, owner }: WorkerAddress, model: string): boolean {
    if (tier === 'tools') return false;
    if (owner === openOwner) return true;
    const patterns = entryOf(this.#granted, owner)?.models;
    if (patterns) return isNamed(patterns, model);
    if (owner === tier) return true;
    const tiers = this.#names.tiersOf(model);
    return tiers === undefined || [...tiers].every((other) => other === tier);
  }

  /**
   * Notes what a worker serves: it belongs to its tier, if the worker may serve it whatever other tiers serve.
   * @returns the workers that may serve less from now on
   */
  served<Other extends Pick<LiveWorker, 'address' | 'pool'>>(
    address: WorkerAddress,
    models: readonly Pick<ModelInfo, 'id'>[],
    workers: Iterable<Other>,
  ): Other[] {
    if (!this.#isTrusted(address)) return [];
    const { tier } = address;
    const added = new Set(models.flatMap(({ id }) => (this.#names.tiersOf(id)?.has(tier) === true ? [] : [id])));
    for (const { id } of models) this.#names.add(id, tier);
    if (added.size === 0) return [];
    return [...workers].filter(
      (other) =>
        other.address.tier !== tier &&
        !this.#isTrusted(other.address) &&
        other.pool.models.some(({ id }) => added.has(id)),
    );
  }

  #isTrusted({ tier, owner }: WorkerAddress): boolean {
    return owner === tier || entryOf(this.#granted, owner)?.models !== undefined;
  }
}

export function entryOf(entries: CredentialEntries, owner: string): CredentialEntries[string] | undefined {
  return Object.hasOwn(entries, owner) ? entries[owner] : undefined;
}

/** Whether one of the patterns of an entry is for this name. */
export function isNamed(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}
