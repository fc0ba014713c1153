import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { keyRecordSchema, type KeyRecord } from './key-record.ts';
import { storeUnavailable } from './store-unavailable.ts';

const createFirstRouterKey = script('create-first-router-key');
const revokeKey = script('revoke-key');

/** A record that was not revoked yet. */
export type NewKeyRecord = Omit<KeyRecord, 'revokedAt'>;

/** How a revocation ended. */
export type Revocation = 'revoked' | 'revoked before' | 'unknown';

/**
 * The records of all keys, in Redis, under three names of a common prefix:
 *
 * - `<prefix>key:<id>`: hash, the fields of a KeyRecord
 * - `<prefix>keys`: sorted set, every id by its creation time
 * - `<prefix>first-router-key`: string, the id of the first router key ever made
 *
 * Records are never deleted, so that a revoked key can still be named. Every method throws `store_unavailable` when
 * Redis does not do as told in time.
 */
export class KeyStore {
  readonly #redis: Redis;
  readonly #prefix: string;

  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#prefix = prefix;
  }

  /** The record of a key, revoked or not; undefined when there is none. */
  async find(id: string): Promise<KeyRecord | undefined> {
    return toRecord(await answer(this.#redis.hgetall(this.#recordName(id))));
  }

  /** Every key ever made, oldest first. */
  async list(): Promise<KeyRecord[]> {
    const ids = await answer(this.#redis.zrange(this.#indexName, '0', '-1'));
    const records = await Promise.all(ids.map((id) => this.find(id)));
    return records.filter((record) => record !== undefined);
  }

  /** Whether a router key was ever made, revoked or not. */
  async hasHadRouterKey(): Promise<boolean> {
    return (await answer(this.#redis.exists(this.#firstRouterKeyName))) === 1;
  }

  /** Stores a new key. */
  async create(record: NewKeyRecord): Promise<void> {
    const steps = this.#redis
      .multi()
      .hset(this.#recordName(record.id), record)
      .zadd(this.#indexName, record.createdAt, record.id);
    if (record.kind === 'router') steps.setnx(this.#firstRouterKeyName, record.id);
    const results = await answer(steps.exec());
    const failed = results?.find(([error]) => error !== null);
    if (failed) throw storeUnavailable(failed[0]);
  }

  /** Stores a router key if none was ever made, and tells whether it did. */
  async createFirstRouterKey(record: NewKeyRecord): Promise<boolean> {
    const keys = [this.#firstRouterKeyName, this.#recordName(record.id), this.#indexName];
    const args = [record.id, record.createdAt, ...Object.entries(record).flat()];
    return (await answer(this.#redis.eval(createFirstRouterKey, keys.length, ...keys, ...args))) === 1;
  }

  /** Revokes a key for good. */
  async revoke(id: string, now: number): Promise<Revocation> {
    const outcome = await answer(this.#redis.eval(revokeKey, 1, this.#recordName(id), now));
    if (outcome === 1) return 'revoked';
    return outcome === 0 ? 'revoked before' : 'unknown';
  }

  #recordName(id: string): string {
    return `${this.#prefix}key:${id}`;
  }

  get #indexName(): string {
    return `${this.#prefix}keys`;
  }

  get #firstRouterKeyName(): string {
    return `${this.#prefix}first-router-key`;
  }
}

function script(name: string): string {
  return readFileSync(new URL(`lua/${name}.lua`, import.meta.url), 'utf8');
}

function toRecord(fields: Record<string, string>): KeyRecord | undefined {
  if (Object.keys(fields).length === 0) return undefined;
  return keyRecordSchema.parse(fields);
}

async function answer<T>(reply: Promise<T>): Promise<T> {
  try {
    return await reply;
  } catch (error) {
    throw storeUnavailable(error);
  }
}
