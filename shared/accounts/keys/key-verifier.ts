import { verify as verifyArgon2 } from 'argon2';
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { FairQueue, QueueFullError } from '#shared/core/fair-queue.ts';
import { hashKeySecret, hasOtherCost, parseKey, parseKeyForm } from './parse-key.ts';
import type { ParsedKey } from './key-format.ts';
import { createOverloadedError, ReadThroughCache, type CachedRead } from '#shared/store/redis/read-through-cache.ts';
import { InvalidKeyError, type RefusedKey } from './invalid-key-error.ts';
import { createKeyIdentity, isUsable, type FoundKey, type KeyIdentity } from './key-record.ts';

export interface KeyVerifierOptions {
  /** Maximum number of Argon2 computations at once. Default: the number of cores minus one, but at least 1 and at most 3. */
  concurrency?: number;
  /** Maximum number of verified keys in memory. Default 10,000. */
  maxKnown?: number;
  /** Milliseconds after which the record of a key is read again. Default 30 s. */
  freshMs?: number;
  /** Milliseconds for which a key stays valid after its record was read, while the store is unavailable. Default 1 h. */
  graceMs?: number;
  /** Compares a secret with the hash of its record. Default: Argon2. */
  matchesHash?: (hash: string, secret: string) => Promise<boolean>;
}

/** Milliseconds for which a refusal is cached. */
const refusalMs = 10_000;
/**
 * Maximum number of keys whose records are read at once, which is twice the number of keys that may wait for an Argon2 computation. Further
 * keys that are new to this process are refused.
 */
const maxReads = 512;
const waitingLimits = { waitingPerOwner: 4, waiting: 256 };

/** The store of keys with their owners. Both methods throw RouterError `store_unavailable` while the store is unavailable. */
export interface KeySource {
  find(id: string): Promise<FoundKey | undefined>;
  replaceHash(id: string, from: string, to: string): Promise<boolean>;
}

/** A key as its record was last read. */
interface ReadKey {
  /** Undefined if the key does not exist, or may not be used. */
  readonly identity: KeyIdentity | undefined;
  /** The key that refusals count for, if there is a key with this id. */
  readonly key: RefusedKey | undefined;
  /** When the key expires, in ms since 1970. From then on, it is refused. */
  readonly expiresAt: number;
  hash: string;
  /** The digest of the raw key whose secret matches the hash. Undefined until such a raw key was verified. */
  digest: Buffer | undefined;
}

/** The comparison of a secret with a hash. */
interface Comparison {
  key: ParsedKey;
  hash: string;
}

/**
 * Verifies raw keys and returns their identities. A key in use is verified from memory in about a microsecond. A key that is new to this
 * process costs a read of the store and an Argon2 computation. Callers with the same key share the read and the computation. Different keys
 * are served in rotation, so that a flood of wrong keys delays nobody for long. A hash whose cost differs from the cost of new hashes is
 * replaced.
 *
 * Raw keys are recognised by a digest that is keyed with a secret of this process. So nothing in the memory of this process can be used to
 * sign in.
 */
export class KeyVerifier {
  readonly #store: KeySource;
  readonly #freshMs: number;
  readonly #matchesHash: (hash: string, secret: string) => Promise<boolean>;
  readonly #queue: FairQueue;
  readonly #digestKey = randomBytes(32).toString('base64');
  /** The keys by id. Only keys whose secret was verified are accepted, so that wrong keys never evict verified keys. */
  readonly #keys: ReadThroughCache<ReadKey>;
  /** Whether the secrets of raw keys match hashes, by digest and hash. No change of a key changes that. */
  readonly #comparisons: ReadThroughCache<boolean, Comparison>;

  constructor(store: KeySource, options: KeyVerifierOptions = {}) {
    const { concurrency = Math.min(3, Math.max(1, availableParallelism() - 1)), maxKnown: max = 10_000 } = options;
    const { freshMs = 30_000, graceMs = 3_600_000, matchesHash = verifyArgon2 } = options;
    this.#store = store;
    this.#freshMs = freshMs;
    this.#matchesHash = matchesHash;
    this.#queue = new FairQueue({ concurrency, ...waitingLimits });
    this.#keys = new ReadThroughCache({
      noun: 'keys',
      max,
      maxReads,
      graceMs,
      read: (id, previous) => this.#readKey(id, previous),
    });
    this.#comparisons = new ReadThroughCache({
      noun: 'keys',
      max,
      read: async (comparison) => {
        const matches = await this.#compareInQueue(comparison);
        return { value: matches, freshMs: Infinity, isAccepted: matches };
      },
    });
  }

  /**
   * Returns the identity of a key: at once for a key in use, else as a promise.
   *
   * Throws, or rejects with, a RouterError: `invalid_api_key` for a wrong, unknown, revoked or expired key, and for a key whose owner is
   * blocked or deleted; `store_unavailable` for a key that cannot be verified while the store is unavailable; `overloaded` when too many
   * verifications wait.
   */
  verify(rawKey: string): KeyIdentity | Promise<KeyIdentity> {
    const key = parseKey(rawKey);
    if (key === undefined) return this.#refuseMistyped(rawKey);
    const read = this.#keys.find(key.id, key.id);
    if (read instanceof Promise) return read.then((readKey) => this.#verifySecret(rawKey, key, readKey));
    return this.#verifySecret(rawKey, key, read);
  }

  /**
   * Removes a key, or all keys of a person or team, from memory, because a change was published. The next use of each key reads the store.
   * @param changed a key's id, `user:<id>` or `team:<id>`
   */
  drop(changed: string): void {
    this.#keys.drop(changed);
  }

  /** Makes the next use of every key read its record again, because published changes may have been missed. */
  markStale(): void {
    this.#keys.markStale();
  }

  /**
   * Refuses a text that is no key, without reading the store. If the text has the id of a key that this process knows, the refusal is
   * counted for that key, because its secret was probably mistyped.
   */
  #refuseMistyped(rawKey: string): never {
    const id = parseKeyForm(rawKey)?.id;
    throw new InvalidKeyError(id === undefined ? undefined : this.#keys.peek(id)?.key);
  }

  #computeDigest(rawKey: string): string {
    return hash('sha256', this.#digestKey + rawKey, 'base64url');
  }

  async #readKey(id: string, previous: ReadKey | undefined): Promise<CachedRead<ReadKey>> {
    const record = await this.#store.find(id);
    const now = Date.now();
    if (record === undefined || !isUsable(record, now)) {
      const value = { identity: undefined, key: record, hash: '', expiresAt: 0, digest: undefined };
      return { value, freshMs: refusalMs, isAccepted: false };
    }
    const identity = createKeyIdentity(record);
    const { hash, ownerId, expiresAt = Infinity } = record;
    const digest = previous?.hash === hash ? previous.digest : undefined;
    return {
      value: { identity, key: identity, hash, expiresAt, digest },
      freshMs: Math.min(this.#freshMs, expiresAt - now),
      isAccepted: digest !== undefined,
      dependsOn: ownerId === undefined ? [] : [`user:${ownerId}`, `team:${ownerId}`],
    };
  }

  /** Returns the identity of a key if the secret in a raw key is that of the key. */
  #verifySecret(rawKey: string, parsed: ParsedKey, readKey: ReadKey): KeyIdentity | Promise<KeyIdentity> {
    const { identity, key, hash, expiresAt } = readKey;
    // While the store is unavailable, a key is cached beyond its expiry. The kind is that of the record, because the first router key keeps
    // its spelling when it becomes the key of a person.
    if (identity === undefined || (expiresAt !== Infinity && Date.now() >= expiresAt)) throw new InvalidKeyError(key);
    const digest = this.#computeDigest(rawKey);
    if (readKey.digest !== undefined) {
      // A key has only one right secret, so every other secret is wrong without a further check.
      if (timingSafeEqual(readKey.digest, Buffer.from(digest))) return identity;
      throw new InvalidKeyError(key);
    }
    const matches = this.#comparisons.find(`${digest} ${hash}`, { key: parsed, hash });
    // The key may have changed during the comparison, so it is verified from the beginning.
    if (matches instanceof Promise) return matches.then(() => this.verify(rawKey));
    if (!matches) throw new InvalidKeyError(key);
    readKey.digest = Buffer.from(digest);
    this.#keys.accept(parsed.id);
    if (hasOtherCost(hash)) void this.#replaceHash(parsed, readKey);
    return identity;
  }

  /** Replaces the hash of a key whose secret was just verified against it. The caller does not wait. */
  async #replaceHash({ id, secret }: ParsedKey, readKey: ReadKey): Promise<void> {
    try {
      const hash = await this.#queue.run(id, () => hashKeySecret(secret));
      if (await this.#store.replaceHash(id, readKey.hash, hash)) readKey.hash = hash;
    } catch {
      // The old hash stays, and still works. The next process that verifies the key anew tries again.
    }
  }

  async #compareInQueue({ key: { id, secret }, hash }: Comparison): Promise<boolean> {
    try {
      return await this.#queue.run(id, async () => {
        // If another secret was found to match this hash while this one waited, this secret is wrong, because callers with the same secret
        // share one comparison.
        const known = this.#keys.peek(id);
        if (known?.hash === hash && known.digest !== undefined) return false;
        return this.#matchesHash(hash, secret);
      });
    } catch (error) {
      throw error instanceof QueueFullError ? createOverloadedError('keys', error) : error;
    }
  }
}
