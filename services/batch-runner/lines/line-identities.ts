import { LRUCache } from 'lru-cache';
import {
  hasLimits,
  identityOfKey,
  isUsable,
  type FoundKey,
  type KeyIdentity,
} from '#shared/accounts/keys/key-record.ts';
import type { KeyStore } from '#shared/accounts/keys/key-store.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { UserStore } from '#shared/accounts/people/user-store.ts';

/** Milliseconds after which a key is read again, should an announcement be lost. */
const freshMs = 10_000;

/** Keys that are known at once. */
const maxKnown = 1_000;

/** What the id of the identity of a console session begins with; the person's follows. */
const sessionPrefix = 'session:';

export interface LineIdentitiesParts {
  keys: Pick<KeyStore, 'find'>;
  users: Pick<UserStore, 'find'>;
  /** The class that all have; that of the key, and `normal` for people, if undefined. */
  class: PriorityClass | undefined;
}

/** Successors of a key that are followed. */
const maxSuccessors = 100;

/**
 * The identities that work in the background is served with: those of the keys, or the people, that asked for it, as they are now. A key
 * that has expired because it was rotated stands for its successor.
 */
export class LineIdentities {
  readonly #parts: LineIdentitiesParts;
  readonly #known = new LRUCache<string, { identity: KeyIdentity | undefined }>({ max: maxKnown, ttl: freshMs });
  /** Counts the changes: what was read before one may be what was before it. */
  #generation = 0;

  constructor(parts: LineIdentitiesParts) {
    this.#parts = parts;
  }

  /**
   * The identity of a key or session by its id; undefined if it may not be used any more.
   * @throws RouterError `store_unavailable`
   */
  async find(id: string): Promise<KeyIdentity | undefined> {
    const known = this.#known.get(id);
    if (known) return known.identity;
    const generation = this.#generation;
    const identity = id.startsWith(sessionPrefix)
      ? await this.#ofPerson(id, id.slice(sessionPrefix.length))
      : await this.#ofKey(id);
    if (generation === this.#generation) this.#known.set(id, { identity });
    return identity;
  }

  /** Has all of them read again: one has changed. */
  forget(): void {
    this.#generation += 1;
    this.#known.clear();
  }

  async #ofKey(id: string): Promise<KeyIdentity | undefined> {
    const found = await this.#usable(id);
    if (!found) return undefined;
    const identity = identityOfKey(found);
    return { ...identity, class: this.#parts.class ?? identity.class };
  }

  /** The key, or the one that has taken its place. One without owner has no successor: what it asked for belongs to itself. */
  async #usable(id: string): Promise<FoundKey | undefined> {
    let next: string | undefined = id;
    for (let count = 0; next !== undefined && count <= maxSuccessors; count += 1) {
      const found = await this.#parts.keys.find(next);
      if (!found || isUsable(found, Date.now())) return found;
      next = found.revokedAt === undefined && found.ownerId !== undefined ? found.replacedBy : undefined;
    }
    return undefined;
  }

  async #ofPerson(id: string, userId: string): Promise<KeyIdentity | undefined> {
    const user = await this.#parts.users.find(userId);
    if (!user || user.blockedAt !== undefined) return undefined;
    const { name, limits, weight } = user;
    return {
      id,
      kind: 'user',
      name,
      class: this.#parts.class ?? 'normal',
      ownerId: userId,
      models: undefined,
      tiers: undefined,
      tools: undefined,
      limits: hasLimits(limits) ? [{ party: `user:${userId}`, limits }] : [],
      ownerWeight: weight,
    };
  }
}
