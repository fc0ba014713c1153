import { verify as verifyArgon2 } from 'argon2';
import { LRUCache } from 'lru-cache';
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { RouterError } from '#shared/core/errors.ts';
import { FairQueue, QueueFullError } from '#shared/core/fair-queue.ts';
import { hashKeySecret, hasOtherCost } from './hash-key-secret.ts';
import type { ParsedKey } from './key-format.ts';
import { UnreadableRecordError } from '../redis/stored-records.ts';
import { InvalidKeyError, type RefusedKey } from './invalid-key-error.ts';
import { createKeyIdentity, isUsable, type FoundKey, type KeyIdentity } from './key-record.ts';
import { parseKey, parseKeyForm } from './parse-key.ts';

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

const maxWrongKeys = 10_000;
const wrongKeyMs = 10_000;
const storeRetryMs = 1_000;
/**
 * Maximum number of keys that are verified at once. Requests with a key wait for its verification. The maximum is twice the number of keys
 * that may wait for an Argon2 computation.
 */
const maxVerifications = 512;
/**
 * Maximum number of simultaneous reads of the store for texts that are no keys. Further such texts are refused without a read, so their
 * refusals count for no key.
 */
const maxMistypedReads = 64;
const waitingLimits = { waitingPerOwner: 4, waiting: 256 };

/** The store of keys with their owners. Both methods throw RouterError `store_unavailable` while the store is unavailable. */
export interface KeySource {
  find(id: string): Promise<FoundKey | undefined>;
  replaceHash(id: string, from: string, to: string): Promise<boolean>;
}

/** A key whose secret was verified against the hash of its record. */
interface KnownKey {
  readonly digest: Buffer;
  hash: string;
  identity: KeyIdentity;
  /** When the key expires, in ms since 1970. From then on, it is refused. */
  expiresAt: number;
  /** When the record was last read, in ms of performance.now(). */
  readAt: number;
  /** When the record must be read again, in ms of performance.now(). */
  trustedUntil: number;
  refreshing: Promise<void> | undefined;
}

interface Verification {
  readonly id: string;
  /** Whether a change of the key was published since the record was read, so that the record must be read again. */
  hasChanged: boolean;
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
  readonly #graceMs: number;
  readonly #matchesHash: (hash: string, secret: string) => Promise<boolean>;
  readonly #queue: FairQueue;
  readonly #digestKey = randomBytes(32).toString('base64');
  /** Verified keys by id. An id has only one right secret, so every other secret is wrong without a further check. */
  readonly #knownKeys: LRUCache<string, KnownKey>;
  /**
   * Wrong raw keys by digest. `until`: no verification before this time. `key`: the existing key with the id in the raw key, if any. Wrong
   * keys are not in `#knownKeys`, so that they never evict verified keys.
   */
  readonly #wrongKeys = new LRUCache<string, { until: number; key: RefusedKey | undefined }>({ max: maxWrongKeys });
  #timesMarkedStale = 0;
  /** Number of current reads of the store for texts that are no keys. */
  #mistypedReads = 0;
  readonly #verifications = new Map<string, { verification: Verification; outcome: Promise<KeyIdentity> }>();

  constructor(store: KeySource, options: KeyVerifierOptions = {}) {
    const { concurrency = Math.min(3, Math.max(1, availableParallelism() - 1)), maxKnown = 10_000 } = options;
    this.#store = store;
    this.#freshMs = options.freshMs ?? 30_000;
    this.#graceMs = options.graceMs ?? 3_600_000;
    this.#matchesHash = options.matchesHash ?? verifyArgon2;
    this.#queue = new FairQueue({ concurrency, ...waitingLimits });
    this.#knownKeys = new LRUCache({ max: maxKnown });
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
    const digest = this.#computeDigest(rawKey);
    const known = this.#knownKeys.get(key.id);
    if (known !== undefined) {
      if (performance.now() >= known.trustedUntil) return this.#verifyStale(rawKey, key.id, known);
      if (timingSafeEqual(known.digest, Buffer.from(digest))) return known.identity;
      throw new InvalidKeyError(known.identity);
    }
    const wrong = this.#wrongKeys.get(digest);
    if (wrong && performance.now() < wrong.until) throw new InvalidKeyError(wrong.key);
    return this.#verifyUnknown(key, digest);
  }

  /**
   * Removes a key, or all keys of a person or team, from memory, because a change was published. The next use of each key reads the store.
   * @param changed a key's id, `user:<id>` or `team:<id>`
   */
  drop(changed: string): void {
    const [, ownerId] = /^(?:user|team):(.*)$/.exec(changed) ?? [];
    if (ownerId === undefined) this.#knownKeys.delete(changed);
    else
      for (const [id, { identity }] of this.#knownKeys.entries())
        if (identity.ownerId === ownerId) this.#knownKeys.delete(id);
    this.#wrongKeys.clear();
    for (const { verification } of this.#verifications.values()) {
      // The owner of a key that is being verified is not known yet.
      if (ownerId !== undefined || verification.id === changed) verification.hasChanged = true;
    }
  }

  /** Makes the next use of every key read its record again, because published changes may have been missed. */
  markStale(): void {
    this.#timesMarkedStale++;
    this.#knownKeys.forEach((known) => {
      known.trustedUntil = 0;
    });
    this.#wrongKeys.clear();
    for (const { verification } of this.#verifications.values()) verification.hasChanged = true;
  }

  /**
   * Refuses a text that is no key. If the text has the id of a key, the refusal is counted for that key, because its secret was probably
   * mistyped.
   */
  #refuseMistyped(rawKey: string): Promise<never> {
    const key = parseKeyForm(rawKey);
    const known = key && this.#knownKeys.get(key.id);
    if (!key || known) throw new InvalidKeyError(known?.identity);
    const digest = this.#computeDigest(rawKey);
    const wrong = this.#wrongKeys.get(digest);
    if (wrong && performance.now() < wrong.until) throw new InvalidKeyError(wrong.key);
    if (this.#mistypedReads >= maxMistypedReads) throw new InvalidKeyError(undefined);
    return this.#refuseForKey(key.id, digest);
  }

  async #refuseForKey(id: string, digest: string): Promise<never> {
    this.#mistypedReads += 1;
    // While the store is unavailable, the text is refused all the same.
    const record = await this.#store.find(id).catch(() => undefined);
    this.#mistypedReads -= 1;
    const refusal = new InvalidKeyError(record);
    this.#wrongKeys.set(digest, { until: performance.now() + wrongKeyMs, key: refusal.key });
    throw refusal;
  }

  #computeDigest(rawKey: string): string {
    return hash('sha256', this.#digestKey + rawKey, 'base64url');
  }

  async #verifyStale(rawKey: string, id: string, known: KnownKey): Promise<KeyIdentity> {
    known.refreshing ??= this.#refresh(id, known).finally(() => {
      known.refreshing = undefined;
    });
    await known.refreshing;
    return this.verify(rawKey);
  }

  /**
   * Reads the record of a known key, and trusts the key again or removes it. While the store is unavailable, the key stays valid for
   * `graceMs`.
   */
  async #refresh(id: string, known: KnownKey): Promise<void> {
    const now = performance.now();
    const timesMarkedStale = this.#timesMarkedStale;
    let record: FoundKey | undefined;
    try {
      record = await this.#store.find(id);
    } catch (error) {
      // A record that cannot be read may say that the key was revoked.
      const isAway = error instanceof RouterError && !(error instanceof UnreadableRecordError);
      if (!isAway || error.code !== 'store_unavailable' || now - known.readAt >= this.#graceMs) throw error;
      if (Date.now() >= known.expiresAt) {
        this.#knownKeys.delete(id);
        throw new InvalidKeyError(known.identity);
      }
      known.trustedUntil = computeTrustedUntil(storeRetryMs, known.expiresAt);
      return;
    }
    // If the key was marked stale meanwhile, the record may have been read before the change. After `drop`, `known` is no longer in the
    // map, so changing it has no effect.
    if (this.#timesMarkedStale !== timesMarkedStale) return;
    if (record === undefined || !isUsable(record, Date.now()) || record.hash !== known.hash) {
      this.#knownKeys.delete(id);
      return;
    }
    known.identity = createKeyIdentity(record);
    known.expiresAt = record.expiresAt ?? Infinity;
    known.readAt = now;
    known.trustedUntil = computeTrustedUntil(this.#freshMs, known.expiresAt);
  }

  #verifyUnknown(key: ParsedKey, digest: string): Promise<KeyIdentity> {
    const underWay = this.#verifications.get(digest);
    if (underWay !== undefined) return underWay.outcome;
    if (this.#verifications.size >= maxVerifications) throw createOverloadedError();
    const verification = { id: key.id, hasChanged: false };
    const outcome = this.#prove(key, digest, verification).finally(() => {
      this.#verifications.delete(digest);
    });
    this.#verifications.set(digest, { verification, outcome });
    return outcome;
  }

  /** Reads the record and compares the secret. Begins again after every change that is published meanwhile. */
  async #prove(key: ParsedKey, digest: string, verification: Verification): Promise<KeyIdentity> {
    let provenHash: string | undefined;
    for (;;) {
      verification.hasChanged = false;
      const now = performance.now();
      const record = await this.#store.find(key.id);
      const isUsableRecord = record !== undefined && record.kind === key.kind && isUsable(record, Date.now());
      if (isUsableRecord && record.hash !== provenHash && (await this.#matchesInQueue(key, record.hash)))
        provenHash = record.hash;
      if (verification.hasChanged) continue;
      if (!isUsableRecord || record.hash !== provenHash) {
        const refusal = new InvalidKeyError(record);
        this.#wrongKeys.set(digest, { until: performance.now() + wrongKeyMs, key: refusal.key });
        throw refusal;
      }
      const identity = createKeyIdentity(record);
      const expiresAt = record.expiresAt ?? Infinity;
      const known: KnownKey = {
        digest: Buffer.from(digest),
        hash: record.hash,
        identity,
        expiresAt,
        readAt: now,
        trustedUntil: computeTrustedUntil(this.#freshMs, expiresAt),
        refreshing: undefined,
      };
      this.#knownKeys.set(key.id, known);
      if (hasOtherCost(record.hash)) void this.#replaceHash(key, known);
      return identity;
    }
  }

  /** Replaces the hash of a key whose secret was just verified against it. The caller does not wait. */
  async #replaceHash({ id, secret }: ParsedKey, known: KnownKey): Promise<void> {
    try {
      const hash = await this.#queue.run(id, () => hashKeySecret(secret));
      if (await this.#store.replaceHash(id, known.hash, hash)) known.hash = hash;
    } catch {
      // The old hash stays, and still works. The next process that verifies the key anew tries again.
    }
  }

  async #matchesInQueue({ id, secret }: ParsedKey, phc: string): Promise<boolean> {
    try {
      return await this.#queue.run(id, async () => {
        // If this id is known by now with the same hash, another secret was verified while this one waited. So this secret is wrong,
        // because callers with the same secret share one verification.
        if (this.#knownKeys.peek(id)?.hash === phc) return false;
        return this.#matchesHash(phc, secret);
      });
    } catch (error) {
      throw error instanceof QueueFullError ? createOverloadedError(error) : error;
    }
  }
}

/** Returns the time of performance.now() until which a key is trusted: `ms` milliseconds from now, or its expiry if that is earlier. */
function computeTrustedUntil(ms: number, expiresAt: number): number {
  return performance.now() + Math.min(ms, expiresAt - Date.now());
}

function createOverloadedError(cause?: Error): RouterError {
  return new RouterError('overloaded', 'Too many keys are being verified. Please try again soon.', {
    retryAfter: 2,
    cause,
  });
}
