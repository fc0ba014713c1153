import type { ModelInfo } from '../../contract/announcement.ts';
import { openCredentialName, type WorkerAddress } from '../../contract/worker-address.ts';
import { KnownNames } from './known-names.ts';
import type { LiveWorker } from './live-worker.ts';

/** The models and tools that workers may serve, by the name of their credential: names, or prefixes followed by `*`. */
export type CredentialEntries = Readonly<
  Record<string, { models?: readonly string[] | undefined; tools?: readonly string[] | undefined }>
>;

/** Maximum names whose tiers are kept. */
const maxNames = 10_000;

/**
 * Decides which models a worker may serve, by its credential. If the credential has an entry with models in the registry, the worker may
 * serve these models. If the credential is the tier's own, which has the tier's name, the worker may serve any model. Workers of these two
 * kinds are trusted. Any other worker with a credential may not serve a name that belongs to another tier. A name belongs to a tier if a
 * trusted worker of the tier serves it, or has served it since this process started.
 * See docs/decisions/0042-models-of-credentials.md.
 */
export class CredentialModelRules {
  #entries: CredentialEntries = {};
  readonly #names = new KnownNames(maxNames);

  /** Replaces the entries of all credentials. */
  setEntries(entries: CredentialEntries): void {
    this.#entries = entries;
  }

  /** Whether a worker may serve a model. */
  mayServe({ tier, credentialName }: WorkerAddress, model: string): boolean {
    if (tier === 'tools') return false;
    if (credentialName === openCredentialName) return true;
    const patterns = findEntry(this.#entries, credentialName)?.models;
    if (patterns) return matchesAny(patterns, model);
    if (credentialName === tier) return true;
    const tiers = this.#names.getTiers(model);
    return tiers === undefined || [...tiers].every((other) => other === tier);
  }

  /**
   * Records the models of a worker as names of its tier, if the worker is trusted.
   * @returns the workers of other tiers that may serve fewer models from now on
   */
  recordModels<Other extends Pick<LiveWorker, 'address' | 'pool'>>(
    address: WorkerAddress,
    models: readonly Pick<ModelInfo, 'id'>[],
    workers: Iterable<Other>,
  ): Other[] {
    if (!this.#isTrusted(address)) return [];
    const { tier } = address;
    const newNames = new Set(models.flatMap(({ id }) => (this.#names.getTiers(id)?.has(tier) === true ? [] : [id])));
    for (const { id } of models) this.#names.add(id, tier);
    if (newNames.size === 0) return [];
    return [...workers].filter(
      (other) =>
        other.address.tier !== tier &&
        !this.#isTrusted(other.address) &&
        other.pool.models.some(({ id }) => newNames.has(id)),
    );
  }

  #isTrusted({ tier, credentialName }: WorkerAddress): boolean {
    return credentialName === tier || findEntry(this.#entries, credentialName)?.models !== undefined;
  }
}

/** Returns the entry of a credential; undefined if it has none. */
export function findEntry(entries: CredentialEntries, credentialName: string): CredentialEntries[string] | undefined {
  return Object.hasOwn(entries, credentialName) ? entries[credentialName] : undefined;
}

/** Whether a pattern of an entry matches this name. */
export function matchesAny(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}
