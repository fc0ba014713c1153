import type { ModelInfo } from '../../contract/announcement.ts';
import { openOwner, type WorkerAddress } from '../../contract/worker-address.ts';
import { KnownNames } from './known-names.ts';
import type { LiveWorker } from './live-pool.ts';

/** The models that workers may serve, by their credential: names, or prefixes of names followed by `*`. */
export type CredentialEntries = Readonly<
  Record<string, { models?: readonly string[] | undefined; tools?: readonly string[] | undefined }>
>;

const maxNames = 10_000;

/**
 * Decides which models a worker may serve, by its credential. A credential with an entry in the registry may serve the models in that
 * entry. A credential without an entry may not use the names of another tier. These are the names that workers with that tier's own
 * credential, or with an entry, serve or have served since this process started. See docs/decisions/0042-models-of-credentials.md.
 */
export class CredentialModelRules {
  #granted: CredentialEntries = {};
  readonly #names = new KnownNames(maxNames);

  /** Replaces the entries of all credentials. */
  setRules(granted: CredentialEntries): void {
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
   * Records the models that a worker serves as names of its tier, if its credential is the tier's own or has an entry.
   * @returns the workers that may serve fewer models from now on
   */
  recordServed<Other extends Pick<LiveWorker, 'address' | 'pool'>>(
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

/** Whether one of the patterns of an entry matches this name. */
export function isNamed(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}
