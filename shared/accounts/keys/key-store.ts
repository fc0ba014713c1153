import type { Redis } from 'ioredis';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { callRedis } from '#shared/store/redis/call-redis.ts';
import { mapInPages } from '#shared/store/redis/map-in-pages.ts';
import { keyOwnerSchema, keyRecordSchema, type FoundKey, type KeyOwner, type KeyRecord } from './key-record.ts';
import { limitNames } from '../limits/limits.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { cancelBatchesOfOwner } from '../batches/batches.ts';
import { removeAllOfOwner } from '../people/owned-kinds.ts';
import {
  StoredRecords,
  UnreadableRecordError,
  warnUnreadable,
  type ReportUnreadable,
} from '#shared/store/redis/stored-records.ts';
import { replaceJson, toStoredFields } from '#shared/store/redis/stored-value.ts';

const changeKey = new RedisScript(new URL('lua/change-key.lua', import.meta.url));
const createFirstRouterKey = new RedisScript(new URL('lua/create-first-router-key.lua', import.meta.url));
const isStoreRead = new URL('lua/is-store-read.lua', import.meta.url);
const createKey = new RedisScript(isStoreRead, new URL('lua/create-key.lua', import.meta.url));
const replaceHash = new RedisScript(new URL('lua/replace-hash.lua', import.meta.url));
const revokeKey = new RedisScript(isStoreRead, new URL('lua/revoke-key.lua', import.meta.url));

/** Maximum number of keys of one person or team, including keys that cannot be used any more. */
const maxKeysPerOwner = 200;

export type NewKeyRecord = Omit<KeyRecord, 'revokedAt'>;

export type Revocation = 'revoked' | 'revoked before' | 'unknown';

/** The outcome of creating a key. `too many`: its owner has 200 keys that can be used. */
export type KeyCreation = 'created' | 'no owner' | 'too many';

export type KeyChange = Pick<
  KeyRecord,
  'name' | 'class' | 'expiresAt' | 'models' | 'tiers' | 'tools' | 'limits' | 'weight' | 'adminSet' | 'records'
>;

export type KeyChangeOutcome = 'changed' | 'over' | 'unknown' | 'stale';

/**
 * The records of all keys, in Redis. The record of a revoked key stays, so that the key can still be named. No list has the keys of deleted
 * people and teams. If an owner has 200 keys, a new key takes the place of the oldest key that cannot be used any more. Every method throws
 * `store_unavailable` when Redis does not answer in time.
 */
export class KeyStore {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #names: AccountNames;
  readonly #records: StoredRecords<KeyRecord>;
  readonly #owners: Record<'user' | 'team', StoredRecords<KeyOwner>>;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, report: ReportUnreadable = warnUnreadable) {
    this.#redis = redis;
    this.#prefix = prefix;
    const names = accountNames(prefix);
    this.#names = names;
    this.#records = new StoredRecords(redis, { kind: 'key', schema: keyRecordSchema, nameOf: names.key, report });
    this.#owners = {
      user: new StoredRecords(redis, { kind: 'user', schema: keyOwnerSchema, nameOf: names.user, report }),
      team: new StoredRecords(redis, { kind: 'team', schema: keyOwnerSchema, nameOf: names.team, report }),
    };
  }

  /**
   * Returns a key, revoked or not, with its owner; undefined if there is no such key.
   * @throws UnreadableRecordError when the record of the key or of its owner cannot be read
   */
  async find(id: string): Promise<FoundKey | undefined> {
    const record = await this.#records.find(id);
    if (!record) return undefined;
    const owner = await this.#findOwner(record);
    return owner ? { ...record, owner } : record;
  }

  /** Returns the name of a key, even if the rest of its record cannot be read; undefined if there is no such key. */
  async readName(id: string): Promise<string | undefined> {
    return (await callRedis(this.#redis.hget(this.#names.key(id), 'name'))) ?? undefined;
  }

  /** Returns the kind and the owner of each key that exists, by id, even if the rest of its record cannot be read. */
  async readOwners(ids: readonly string[]): Promise<Map<string, { kind: string; ownerId: string | undefined }>> {
    const entries = await mapInPages(ids, async (id) => {
      const [kind, ownerId] = await callRedis(this.#redis.hmget(this.#names.key(id), 'kind', 'ownerId'));
      return typeof kind === 'string' ? ([[id, { kind, ownerId: ownerId ?? undefined }]] as const) : [];
    });
    return new Map(entries.flat());
  }

  /** Returns every key that can be read, oldest first. */
  async list(): Promise<FoundKey[]> {
    return this.#findAll(await callRedis(this.#redis.zrange(this.#names.keys, '0', '-1')));
  }

  /**
   * Returns the first keys that were made at `createdAt` or later, `limit` of them at most, oldest first, without those that cannot be
   * read.
   * @returns `isEnd`: whether no further keys follow
   */
  async listFrom(createdAt: number, limit: number): Promise<{ found: FoundKey[]; isEnd: boolean }> {
    const range = [this.#names.keys, createdAt, '+inf', 'BYSCORE', 'LIMIT', 0, limit] as const;
    const ids = await callRedis(this.#redis.zrange(...range));
    return { found: await this.#findAll(ids), isEnd: ids.length < limit };
  }

  /** Returns the keys of a person or team that can be read, oldest first. */
  async listOfOwner(ownerId: string): Promise<FoundKey[]> {
    return this.#findAll(await callRedis(this.#redis.zrange(this.#names.keysOf(ownerId), '0', '-1')));
  }

  /** Returns the keys that can be read and expire at `from` or later, but before `to`, both in ms since 1970, oldest first. */
  async listExpiring(from: number, to: number): Promise<FoundKey[]> {
    const ids = await callRedis(this.#redis.zrange(this.#names.keys, '0', '-1'));
    // First reads only one field of each key, because few keys expire soon. Then reads the whole records of these few keys.
    const expiries = await mapInPages(ids, (id) => callRedis(this.#redis.hget(this.#names.key(id), 'expiresAt')));
    return this.#findAll(
      ids.filter((_, index) => {
        const expiry = Number(expiries[index] ?? NaN);
        return expiry >= from && expiry < to;
      }),
    );
  }

  /** Returns the router keys with the name `name` that can be read, oldest first. Reads only the kind and the name of all other keys. */
  async listRouterKeys(name: string): Promise<FoundKey[]> {
    const ids = await callRedis(this.#redis.zrange(this.#names.keys, '0', '-1'));
    const named = await mapInPages(ids, async (id) => {
      const [kind, keyName] = await callRedis(this.#redis.hmget(this.#names.key(id), 'kind', 'name'));
      return kind === 'router' && keyName === name ? [id] : [];
    });
    return this.#findAll(named.flat());
  }

  /** Returns whether a router key was ever made, revoked or not. */
  async hasHadRouterKey(): Promise<boolean> {
    return (await callRedis(this.#redis.exists(this.#names.firstRouterKey))) === 1;
  }

  async create(record: NewKeyRecord): Promise<KeyCreation> {
    return (await this.#create(record)) as KeyCreation;
  }

  /**
   * Stores a key that replaces another key. The old key expires at `until`, or at its own expiry if that is earlier. The new key gets the
   * settings that the old key has at this moment, except for the class if `priority` is defined.
   */
  async replace(
    oldId: string,
    record: NewKeyRecord,
    until: number,
    priority?: PriorityClass,
  ): Promise<KeyCreation | 'not usable'> {
    return (await this.#create(record, { id: oldId, until, priority })) as KeyCreation | 'not usable';
  }

  async createFirstRouterKey(record: NewKeyRecord): Promise<boolean> {
    const { firstRouterKey, key, keys } = this.#names;
    const args = { id: record.id, createdAt: record.createdAt, fields: toStoredFields(record) };
    const names = [firstRouterKey, key(record.id), keys];
    return (await createFirstRouterKey.run(this.#redis, { keys: names, args })) === 1;
  }

  /**
   * Changes the fields in `change`; the value undefined removes a field.
   * @returns `over` if the key is revoked or replaced; `stale` if its revision is not `ifRevision`; in both cases, nothing was changed
   */
  async change(id: string, change: Partial<KeyChange>, ifRevision?: number): Promise<KeyChangeOutcome> {
    const name = this.#names.key(id);
    const { limits } = change;
    const storedLimits = limits && replaceJson(await callRedis(this.#redis.hget(name, 'limits')), limits, limitNames);
    const removed = Object.entries(change).flatMap(([name, value]) => (value === undefined ? [name] : []));
    const args = { ifRevision, removed, fields: toStoredFields({ ...change, limits: storedLimits }) };
    return (await changeKey.run(this.#redis, { keys: [name], args })) as KeyChangeOutcome;
  }

  /**
   * Revokes a key for good, and cancels the batches that were created with it. A key without an owner, and an issued key, own what they
   * store. This content is removed once no other key of the same chain of replacements can read it any more.
   */
  async revoke(id: string, now: number): Promise<Revocation> {
    const { key, keysOf } = this.#names;
    const [owner, storesAs] = await callRedis(this.#redis.hmget(key(id), 'ownerId', 'storesAs'));
    const isOwned = typeof owner === 'string';
    const reply = await revokeKey.run(this.#redis, {
      keys: [key(id), keysOf(owner ?? '')],
      args: { id, now, isOwned, keyPrefix: key('') },
    });
    const [outcome, ...unreadStores] = reply as [number, ...string[]];
    if (outcome === -1) return 'unknown';
    // This step is repeated for a key that was revoked before, because Redis may have become unavailable after that revocation.
    await cancelBatchesOfOwner(this.#redis, this.#prefix, storesAs ?? owner ?? id, isOwned ? id : undefined);
    for (const store of unreadStores) await this.#removeContent(store);
    return outcome === 1 ? 'revoked' : 'revoked before';
  }

  /** Replaces the hash of a key by another hash of the same secret, unless the stored hash has changed. Returns whether it was replaced. */
  async replaceHash(id: string, from: string, to: string): Promise<boolean> {
    return (await replaceHash.run(this.#redis, { keys: [this.#names.key(id)], args: { from, to } })) === 1;
  }

  /** Stores when keys were last used, in ms since 1970, by id. */
  async noteUses(uses: ReadonlyMap<string, number>): Promise<void> {
    await callRedis(this.#redis.hset(this.#names.keyUses, Object.fromEntries(uses)));
  }

  /** Returns when each of these keys was last used, in ms since 1970, to the minute; undefined if it was never used. */
  async readLastUses(ids: readonly string[]): Promise<(number | undefined)[]> {
    if (ids.length === 0) return [];
    const times = await callRedis(this.#redis.hmget(this.#names.keyUses, ...ids));
    return times.map((time) => Number(time) || undefined);
  }

  async #create(
    record: NewKeyRecord,
    old?: { id: string; until: number; priority: PriorityClass | undefined },
  ): Promise<string> {
    const { key, keys, keysOf, keyUses, firstRouterKey } = this.#names;
    const { id, createdAt, kind, ownerId = '' } = record;
    const owner = kind === 'router' || ownerId === '' ? undefined : this.#names[kind](ownerId);
    const names = [key(id), keys, firstRouterKey, keyUses, owner ?? '', keysOf(ownerId), key(old?.id ?? '')];
    const args = {
      id,
      createdAt,
      isOwned: owner !== undefined,
      isRouter: kind === 'router',
      oldExpiresAt: old?.until,
      emptied: undefined as string | undefined,
      maxPerOwner: maxKeysPerOwner,
      keyPrefix: key(''),
      fields: toStoredFields(old === undefined ? record : { ...pickIdentityFields(record), class: old.priority }),
    };
    for (;;) {
      const outcome = String(await createKey.run(this.#redis, { keys: names, args }));
      const unreadStore = /^unread (.+)$/.exec(outcome)?.[1];
      if (unreadStore === undefined) return outcome;
      // The key that makes room is the last one that names this content.
      await this.#removeContent(unreadStore);
      args.emptied = unreadStore;
    }
  }

  /** Removes what was stored under the id of a key in place of an owner. */
  #removeContent(store: string): Promise<void> {
    return removeAllOfOwner(this.#redis, this.#prefix, { kind: 'key', id: store });
  }

  /**
   * Returns the owner of a key; undefined if the key has no owner, or the owner no longer exists.
   * @throws UnreadableRecordError
   */
  async #findOwner(record: NewKeyRecord): Promise<KeyOwner | undefined> {
    const { kind, ownerId } = record;
    return ownerId === undefined || kind === 'router' ? undefined : this.#owners[kind].find(ownerId);
  }

  /** Returns the keys that can be read. A key whose owner cannot be read gets a blocked owner. */
  async #findAll(ids: readonly string[]): Promise<FoundKey[]> {
    const records = await this.#records.findAll(ids);
    return mapInPages(records, async (record) => {
      const owner = await this.#findOwner(record).catch((error: unknown): KeyOwner => {
        if (error instanceof UnreadableRecordError) return { name: '', limits: {}, isBlocked: true };
        throw error;
      });
      return owner ? { ...record, owner } : record;
    });
  }
}

/** Returns the fields of a record that a new key does not inherit from the key that it replaces. */
function pickIdentityFields({
  id,
  hash,
  start,
  firstFour,
  lastFour,
  createdAt,
  createdBy,
  countedAs,
  issuedBy,
  storesAs,
}: NewKeyRecord) {
  return { id, hash, start, firstFour, lastFour, createdAt, createdBy, countedAs, issuedBy, storesAs };
}
