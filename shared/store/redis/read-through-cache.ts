import { LRUCache } from 'lru-cache';
import { RouterError } from '#shared/core/errors.ts';
import { isOutage } from './stored-records.ts';

/** Milliseconds between two tries to read a value again while the store is unavailable. */
const storeRetryMs = 1_000;

/** Maximum of rounds in which a value is read. A change that is announced during a round makes a further round necessary. */
const maxRounds = 10;

/** A value with the rules by which it is cached. */
export interface CachedRead<Value> {
  value: Value;
  /** Milliseconds after which the value is read again. Infinity: it counts until a change is announced. */
  freshMs: number;
  /**
   * False for refusals, and for values that nobody has yet shown a right to. They never evict accepted values, are removed at every
   * announced change, and do not count while the store is unavailable.
   */
  isAccepted: boolean;
  /** `user:<id>`, `team:<id>` and `program:<id>` that the value depends on. Its announced changes remove the value. */
  dependsOn?: readonly string[];
}

export interface ReadThroughCacheOptions<Value, Input> {
  /**
   * Reads or verifies a value.
   * @param previous the cached value, if its fresh time has passed
   */
  read: (input: Input, previous: Value | undefined) => Promise<CachedRead<Value>>;
  /** What is read, as a plural, such as `keys`. For the error when too many are read at once. */
  noun: string;
  /** Maximum number of accepted values, and of other values. Default 10,000. */
  max?: number;
  /** Maximum number of values that are read at once, without accepted ones that are read again. Default 4,096. */
  maxReads?: number;
  /** Milliseconds for which an accepted value counts after it was read, while the store is unavailable. Default 0. */
  graceMs?: number;
}

interface Entry<Value> {
  readonly value: Value;
  readonly dependsOn: readonly string[];
  /** When the value was read, by `performance.now()`. */
  readonly readAt: number;
  /** When the value must be read again, by `performance.now()`. */
  freshUntil: number;
}

interface Round {
  /** Whether a change was announced since the round began, so that the value may be older than the change. */
  hasChanged: boolean;
}

/**
 * Caches what this process reads of accounts, by name: for a time, or until a change is announced. Callers of one name share one read. A
 * value that was read before a change is announced is never returned after the announcement. While the store is unavailable, accepted
 * values count for `graceMs`.
 */
export class ReadThroughCache<Value, Input = string> {
  readonly #options: Required<ReadThroughCacheOptions<Value, Input>>;
  readonly #accepted: LRUCache<string, Entry<Value>>;
  /** The values that are not accepted. */
  readonly #others: LRUCache<string, Entry<Value>>;
  readonly #reads = new Map<string, { round: Round; outcome: Promise<Value> }>();
  /** Number of running reads of values that were not accepted when the read began. */
  #newReads = 0;

  constructor(options: ReadThroughCacheOptions<Value, Input>) {
    const { max = 10_000, maxReads = 4_096, graceMs = 0 } = options;
    this.#options = { ...options, max, maxReads, graceMs };
    this.#accepted = new LRUCache({ max });
    this.#others = new LRUCache({ max });
  }

  /**
   * Returns the value of a name: at once if it is cached and fresh, else as a promise.
   * @param input what `read` is called with
   * @throws RouterError `overloaded` when too many new values are read at once, or a change was announced in every round; the error of `read`
   */
  find(name: string, input: Input): Value | Promise<Value> {
    const entry = this.#getEntry(name);
    if (entry !== undefined && performance.now() < entry.freshUntil) return entry.value;
    return this.#startRead(name, input);
  }

  /** Returns the cached value of a name, whether or not it is fresh. */
  peek(name: string): Value | undefined {
    return this.#getEntry(name)?.value;
  }

  /** Makes the cached value of a name an accepted one. */
  accept(name: string): void {
    const entry = this.#others.get(name);
    if (!entry) return;
    this.#others.delete(name);
    this.#accepted.set(name, entry);
  }

  /**
   * Removes the values that an announced change concerns.
   * @param changed the name of one value, or a party or program that values depend on (`user:<id>`, `team:<id>`, `program:<id>`)
   */
  drop(changed: string): void {
    const isShared = changed.includes(':');
    this.#accepted.delete(changed);
    if (isShared)
      for (const [name, { dependsOn }] of this.#accepted.entries())
        if (dependsOn.includes(changed)) this.#accepted.delete(name);
    this.#others.clear();
    for (const [name, { round }] of this.#reads) {
      // What a value depends on is not known until it is read.
      if (isShared || name === changed) round.hasChanged = true;
    }
  }

  /** Makes the next use of every value read it again, because announced changes may have been missed. */
  markStale(): void {
    this.#accepted.forEach((entry) => {
      entry.freshUntil = 0;
    });
    this.#others.clear();
    for (const { round } of this.#reads.values()) round.hasChanged = true;
  }

  #getEntry(name: string): Entry<Value> | undefined {
    return this.#accepted.get(name) ?? this.#others.get(name);
  }

  #startRead(name: string, input: Input): Promise<Value> {
    const running = this.#reads.get(name);
    if (running) return running.outcome;
    const { noun, maxReads } = this.#options;
    // Names that nobody has shown a right to must not keep those in use from being read again.
    const isNew = !this.#accepted.has(name);
    if (isNew && this.#newReads >= maxReads) throw createOverloadedError(noun);
    if (isNew) this.#newReads += 1;
    const round = { hasChanged: false };
    const outcome = this.#read(name, input, round).finally(() => {
      this.#reads.delete(name);
      if (isNew) this.#newReads -= 1;
    });
    this.#reads.set(name, { round, outcome });
    return outcome;
  }

  async #read(name: string, input: Input, round: Round): Promise<Value> {
    for (let count = 0; count < maxRounds; count += 1) {
      round.hasChanged = false;
      const readAt = performance.now();
      let found: CachedRead<Value>;
      try {
        found = await this.#options.read(input, this.peek(name));
      } catch (error) {
        // A change that was announced meanwhile has removed the value, if it concerns it.
        const entry = this.#accepted.get(name);
        if (!entry || !isOutage(error) || readAt - entry.readAt >= this.#options.graceMs) throw error;
        entry.freshUntil = performance.now() + storeRetryMs;
        return entry.value;
      }
      if (!round.hasChanged) return this.#keep(name, found, readAt);
    }
    throw new RouterError('overloaded', 'Accounts are being changed. Please try again soon.', { retryAfter: 2 });
  }

  #keep(name: string, { value, freshMs, isAccepted, dependsOn = [] }: CachedRead<Value>, readAt: number): Value {
    this.#accepted.delete(name);
    this.#others.delete(name);
    const entry = { value, dependsOn, readAt, freshUntil: performance.now() + freshMs };
    (isAccepted ? this.#accepted : this.#others).set(name, entry);
    return value;
  }
}

/** @param noun what cannot be verified now, as a plural */
export function createOverloadedError(noun: string, cause?: Error): RouterError {
  return new RouterError('overloaded', `Too many ${noun} are being verified. Please try again soon.`, {
    retryAfter: 2,
    cause,
  });
}
