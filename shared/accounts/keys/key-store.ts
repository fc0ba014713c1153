import type { Redis } from 'ioredis';
import { z } from 'zod';
import { accountNames, type AccountNames } from '../redis/account-names.ts';
import { askRedis } from '../redis/ask-redis.ts';
import { keyRecordSchema, type FoundKey, type KeyOwner, type KeyRecord } from './key-record.ts';
import { limitsSchema } from '../limits/limits.ts';
import { RedisScript } from '../redis/redis-script.ts';
import { storedFields, storedJson } from '../redis/stored-value.ts';

const changeKey = new RedisScript(new URL('lua/change-key.lua', import.meta.url));
const createFirstRouterKey = new RedisScript(new URL('lua/create-first-router-key.lua', import.meta.url));
const createKey = new RedisScript(new URL('lua/create-key.lua', import.meta.url));
const revokeKey = new RedisScript(new URL('lua/revoke-key.lua', import.meta.url));

/** Keys of one person or team, those of no use any more included. */
const mostKeysPerOwner = 200;

const ownerSchema = z.tuple([z.string(), storedJson(limitsSchema).nullable(), z.string().nullable()]);

/** A record that was not revoked yet. */
export type NewKeyRecord = Omit<KeyRecord, 'revokedAt'>;

/** How a revocation ended. */
export type Revocation = 'revoked' | 'revoked before' | 'unknown';

/** How the making of a key ended. `too many`: its owner has 200 keys that are in use. */
export type KeyCreation = 'created' | 'no owner' | 'too many';

/** What of a key can be changed. */
export type KeyChange = Pick<KeyRecord, 'name' | 'class' | 'expiresAt' | 'models' | 'tiers' | 'limits'>;

/**
 * The records of all keys, in Redis. They stay when a key is revoked, so that it can still be named; only an owner of
 * very many keys loses the oldest ones that are of no use. Every method throws `store_unavailable` when Redis does not
 * do as told in time.
 */
export class KeyStore {
  readonly #redis: Redis;
  readonly #names: AccountNames;

  /** @param prefix what all names in Redis begin with */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
  }

  /** A key, revoked or not, with its owner; undefined when there is none. */
  async find(id: string): Promise<FoundKey | undefined> {
    const fields = await askRedis(this.#redis.hgetall(this.#names.key(id)));
    if (Object.keys(fields).length === 0) return undefined;
    const record = keyRecordSchema.parse(fields);
    const owner = await this.#findOwner(record);
    return owner ? { ...record, owner } : record;
  }

  /** Every key, oldest first. */
  async list(): Promise<FoundKey[]> {
    return this.#findAll(await askRedis(this.#redis.zrange(this.#names.keys, '0', '-1')));
  }

  /** The keys of a person or team, oldest first. */
  async listOf(ownerId: string): Promise<FoundKey[]> {
    return this.#findAll(await askRedis(this.#redis.zrange(this.#names.keysOf(ownerId), '0', '-1')));
  }

  /** Whether a router key was ever made, revoked or not. */
  async hasHadRouterKey(): Promise<boolean> {
    return (await askRedis(this.#redis.exists(this.#names.firstRouterKey))) === 1;
  }

  /** Stores a new key, if its owner exists. */
  async create(record: NewKeyRecord): Promise<KeyCreation> {
    return (await this.#create(record)) as KeyCreation;
  }

  /** Stores a key that takes the place of another one, which expires then: at `until`, or before as it was to. */
  async replace(oldId: string, record: NewKeyRecord, until: number): Promise<KeyCreation | 'not usable'> {
    return (await this.#create(record, { id: oldId, until })) as KeyCreation | 'not usable';
  }

  /** Stores a router key if none was ever made, and tells whether it did. */
  async createFirstRouterKey(record: NewKeyRecord): Promise<boolean> {
    const { firstRouterKey, key, keys } = this.#names;
    const args = { id: record.id, createdAt: record.createdAt, fields: storedFields(record) };
    const names = [firstRouterKey, key(record.id), keys];
    return (await createFirstRouterKey.run(this.#redis, { keys: names, args })) === 1;
  }

  /** Changes what is given; a field that is undefined is removed. `over`: the key is revoked or replaced, and stays as it is. */
  async change(id: string, change: Partial<KeyChange>): Promise<'changed' | 'over' | 'unknown'> {
    const removed = Object.entries(change).flatMap(([name, value]) => (value === undefined ? [name] : []));
    const args = { removed, fields: storedFields(change) };
    const outcome = await changeKey.run(this.#redis, { keys: [this.#names.key(id)], args });
    return outcome as 'changed' | 'over' | 'unknown';
  }

  /** Revokes a key for good. */
  async revoke(id: string, now: number): Promise<Revocation> {
    const outcome = await revokeKey.run(this.#redis, { keys: [this.#names.key(id)], args: { now } });
    if (outcome === 1) return 'revoked';
    return outcome === 0 ? 'revoked before' : 'unknown';
  }

  /** Notes when keys were last used, by id. */
  async noteUses(uses: ReadonlyMap<string, number>): Promise<void> {
    await askRedis(this.#redis.hset(this.#names.keyUses, Object.fromEntries(uses)));
  }

  /** When each of these keys was last used, to the minute; undefined: never. */
  async lastUses(ids: readonly string[]): Promise<(number | undefined)[]> {
    if (ids.length === 0) return [];
    const times = await askRedis(this.#redis.hmget(this.#names.keyUses, ...ids));
    return times.map((time) => (time === null ? undefined : Number(time)));
  }

  async #create(record: NewKeyRecord, old?: { id: string; until: number }): Promise<unknown> {
    const { key, keys, keysOf, keyUses, firstRouterKey } = this.#names;
    const { id, createdAt, kind, ownerId = '' } = record;
    const owner = this.#ownerName(record);
    const names = [key(id), keys, firstRouterKey, keyUses, owner ?? '', keysOf(ownerId), key(old?.id ?? '')];
    const args = {
      id,
      createdAt,
      isOwned: owner !== undefined,
      isRouter: kind === 'router',
      oldExpiresAt: old?.until,
      maxPerOwner: mostKeysPerOwner,
      keyPrefix: key(''),
      fields: storedFields(old === undefined ? record : identityFields(record)),
    };
    return createKey.run(this.#redis, { keys: names, args });
  }

  async #findOwner(record: KeyRecord): Promise<KeyOwner | undefined> {
    const name = this.#ownerName(record);
    if (name === undefined) return undefined;
    const values = await askRedis(this.#redis.hmget(name, 'name', 'limits', 'blockedAt'));
    if (values[0] === null) return undefined;
    const [called, limits, blockedAt] = ownerSchema.parse(values);
    return { name: called, limits: limits ?? {}, blocked: blockedAt !== null };
  }

  /** Where the owner's record is; undefined for a key that belongs to nobody. */
  #ownerName({ kind, ownerId }: NewKeyRecord): string | undefined {
    if (ownerId === undefined || kind === 'router') return undefined;
    return kind === 'user' ? this.#names.user(ownerId) : this.#names.team(ownerId);
  }

  async #findAll(ids: readonly string[]): Promise<FoundKey[]> {
    const found = await Promise.all(ids.map((id) => this.find(id)));
    return found.filter((key) => key !== undefined);
  }
}

/** What of a successor's record is its own; everything else it has from the key that it succeeds. */
function identityFields({ id, hash, firstFour, lastFour, createdAt, createdBy }: NewKeyRecord) {
  return { id, hash, firstFour, lastFour, createdAt, createdBy };
}
