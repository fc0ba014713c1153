import {
  createLocalJWKSet,
  errors,
  type CryptoKey,
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
} from 'jose';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';

export interface IssuerKeysTimes {
  /** Milliseconds after a read until the keys are read again. */
  freshMs: number;
  /** Milliseconds after the last successful read until its keys no longer count. */
  staleMs: number;
  /** Minimum milliseconds between two reads because of unknown key ids, and between a failed read and the next read. */
  againMs: number;
}

const defaultTimes: IssuerKeysTimes = { freshMs: 300_000, staleMs: 24 * 3_600_000, againMs: 30_000 };

/** Minimum milliseconds between a failed read and the next read while no keys are known. */
const firstAgainMs = 1_000;

export interface IssuerKeysDependencies {
  issuer: string;
  /**
   * Reads the keys.
   * @throws an Error that states the reason
   */
  read: () => Promise<JSONWebKeySet>;
  log: Pick<Logger, 'warn' | 'info'>;
  times?: Partial<IssuerKeysTimes> | undefined;
}

type FindKey = ReturnType<typeof createLocalJWKSet>;

/**
 * The public keys of an issuer. They are read at their first use, and again in the background when they are five minutes old. An unknown
 * key id causes a read as well, at most every 30 seconds. While the keys cannot be read, the last known keys count for a day.
 */
export class IssuerKeys {
  readonly #dependencies: IssuerKeysDependencies;
  readonly #times: IssuerKeysTimes;
  #find: FindKey | undefined;
  #keysText = '';
  #version = 0;
  /** When the keys were last read, by `performance.now()`. */
  #readAt = -Infinity;
  /** When a read last began, by `performance.now()`. */
  #triedAt = -Infinity;
  /** When an unknown key id last caused a read, by `performance.now()`. */
  #searchedAt = -Infinity;
  #reading: Promise<void> | undefined;
  #failure = '';

  constructor(dependencies: IssuerKeysDependencies) {
    this.#dependencies = dependencies;
    this.#times = { ...defaultTimes, ...dependencies.times };
  }

  /**
   * Returns the version of the keys, which grows when they change; undefined while there are no keys that count. A token that was verified
   * with an earlier version must be verified again. If the keys are old, starts a read in the background.
   */
  getVersion(): number | undefined {
    const age = performance.now() - this.#readAt;
    if (age >= this.#times.freshMs && this.#mayRead()) void this.#read();
    return this.#find && age < this.#times.staleMs ? this.#version : undefined;
  }

  /**
   * Returns the key that a token names.
   * @throws JOSEError if there is no such key; RouterError `store_unavailable` while no keys can be read
   */
  async find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey> {
    if (this.getVersion() === undefined) {
      if (this.#mayRead()) await this.#read();
      else await this.#reading;
    }
    if (this.getVersion() === undefined || !this.#find) throw this.#unavailableError();
    try {
      return await this.#find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || !(await this.#readForUnknownKey())) throw error;
      return this.#find(header, token);
    }
  }

  /** Reads the keys again because a key id is unknown. Returns false, without a read, if this happened less than `againMs` ago. */
  async #readForUnknownKey(): Promise<boolean> {
    if (!this.#reading && performance.now() - this.#searchedAt < this.#times.againMs) return false;
    this.#searchedAt = performance.now();
    await this.#read();
    return true;
  }

  #mayRead(): boolean {
    const againMs = this.#find ? this.#times.againMs : Math.min(firstAgainMs, this.#times.againMs);
    return !this.#reading && performance.now() - this.#triedAt >= againMs;
  }

  /** Reads the keys, or waits for the current read. Never rejects. */
  #read(): Promise<void> {
    this.#triedAt = performance.now();
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readOnce(): Promise<void> {
    const { issuer, read, log } = this.#dependencies;
    try {
      const set = await read();
      const find = createLocalJWKSet(set);
      const text = JSON.stringify(set);
      if (this.#failure !== '') log.info({ issuer }, 'the keys of the token issuer can be read again');
      this.#failure = '';
      this.#readAt = performance.now();
      if (text === this.#keysText) return;
      this.#find = find;
      this.#keysText = text;
      this.#version += 1;
    } catch (error) {
      const failure = error instanceof Error ? error.message : String(error);
      if (failure !== this.#failure) log.warn({ issuer, err: error }, 'the keys of the token issuer cannot be read');
      this.#failure = failure;
    }
  }

  #unavailableError(): RouterError {
    const { issuer } = this.#dependencies;
    const message = `The keys of the token issuer ${issuer} cannot be read now. Please try again soon.`;
    return new RouterError('store_unavailable', message, { retryAfter: 2 });
  }
}
