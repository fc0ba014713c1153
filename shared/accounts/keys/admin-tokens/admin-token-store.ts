import { timingSafeEqual } from 'node:crypto';
import type { Redis } from 'ioredis';
import { generateId } from '../generate-key.ts';
import { generateToken, hashToken } from '../../people/secret-token.ts';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { callRedis, callRedisAll } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { StoredRecords, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { toStoredFields } from '#shared/store/redis/stored-value.ts';
import {
  adminTokenSchema,
  parseAdminToken,
  formatAdminToken,
  type AdminScope,
  type AdminTokenRecord,
} from './admin-token.ts';

const createAdminToken = new RedisScript(new URL('lua/create-admin-token.lua', import.meta.url));

/** Maximum of unexpired tokens of one person. The tokens that were made on the command line count as tokens of one person. */
const maxPerOwner = 100;

/** The time of the last use is rounded down to a multiple of this many milliseconds. */
const useRoundingMs = 60_000;

export interface NewAdminToken extends Pick<
  AdminTokenRecord,
  'name' | 'expiresAt' | 'ownerId' | 'madeAt' | 'epoch' | 'madeWith' | 'isForCommand'
> {
  scopes: readonly AdminScope[];
}

/**
 * Why no token was made. `no owner`: the person does not exist. `too many`: the person has too many tokens. `no maker`: the token that was
 * to make the new token is revoked.
 */
export type AdminTokenRefusal = 'no owner' | 'too many' | 'no maker';

/** A token with the time of its last use, in ms since 1970, to the minute. `lastUsedAt` is undefined if the token was never used. */
export type ListedAdminToken = AdminTokenRecord & { lastUsedAt: number | undefined };

/**
 * The admin tokens in Redis. Each record expires with its token. Every method throws RouterError `store_unavailable` while Redis is
 * unavailable.
 */
export class AdminTokenStore {
  readonly #redis: Redis;
  readonly #names: AccountNames;
  readonly #records: StoredRecords<AdminTokenRecord>;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, report: ReportUnreadable) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
    const nameOf = this.#names.adminToken;
    this.#records = new StoredRecords(redis, { kind: 'admin token', schema: adminTokenSchema, nameOf, report });
  }

  /** Creates a token, or returns why it was not created. No later call returns the token itself, because the store has only a hash. */
  async create(newToken: NewAdminToken): Promise<{ raw: string; record: AdminTokenRecord } | AdminTokenRefusal> {
    const secret = generateToken();
    const { ownerId, madeWith } = newToken;
    const record: AdminTokenRecord = {
      ...newToken,
      scopes: [...newToken.scopes],
      id: generateId(),
      hash: hashToken(secret),
      createdAt: Date.now(),
    };
    const { adminToken, adminTokens, adminTokensOf, user } = this.#names;
    const maker = adminToken(madeWith ?? '');
    const keys = [adminToken(record.id), adminTokens, adminTokensOf(ownerId ?? ''), user(ownerId ?? ''), maker];
    const args = {
      id: record.id,
      createdAt: record.createdAt,
      isOwned: ownerId !== undefined,
      isMadeWithToken: madeWith !== undefined,
      maxPerOwner,
      keptMs: Math.max(1, record.expiresAt - record.createdAt),
      tokenPrefix: adminToken(''),
      fields: toStoredFields(record),
    };
    const outcome = await createAdminToken.run(this.#redis, { keys, args });
    if (outcome !== 'created') return outcome as AdminTokenRefusal;
    return { raw: formatAdminToken(record.id, secret), record };
  }

  /**
   * Returns the record of a token, and stores the time of this use. Returns undefined if the token is wrong or expired, or if a token in
   * the chain of its makers was removed.
   */
  async verify(raw: string, now: number): Promise<AdminTokenRecord | undefined> {
    const parsed = parseAdminToken(raw);
    const record = parsed && (await this.#records.find(parsed.id));
    if (!record || record.expiresAt <= now) return undefined;
    if (!(await this.#hasAllMakers(record))) return undefined;
    if (!timingSafeEqual(Buffer.from(record.hash), Buffer.from(hashToken(parsed.secret)))) return undefined;
    const useName = this.#names.adminTokenUse(record.id);
    await callRedis(this.#redis.set(useName, String(now - (now % useRoundingMs)), 'PX', record.expiresAt - now));
    return record;
  }

  find(id: string): Promise<AdminTokenRecord | undefined> {
    return this.#records.find(id);
  }

  /** Returns the unexpired tokens of a person, oldest first. Without `ownerId`, returns the tokens of everybody. */
  async list(ownerId?: string): Promise<ListedAdminToken[]> {
    const { adminTokens, adminTokensOf, adminTokenUse } = this.#names;
    const listName = ownerId === undefined ? adminTokens : adminTokensOf(ownerId);
    const found = await this.#records.findAll(await callRedis(this.#redis.zrange(listName, '0', '-1')));
    if (found.length === 0) return [];
    const uses = await callRedis(this.#redis.mget(...found.map(({ id }) => adminTokenUse(id))));
    return found.map((record, index) => ({ ...record, lastUsedAt: Number(uses[index]) || undefined }));
  }

  /** Removes a token and all tokens that were made with it, directly or indirectly. They are refused from then on. */
  async remove(token: AdminTokenRecord): Promise<void> {
    await this.#removeOne(token);
    // `verify` refuses tokens of a removed maker anyway. This step also removes them from the lists.
    const others = await this.#records.findAll(
      await callRedis(this.#redis.zrange(this.#names.adminTokensOf(token.ownerId ?? ''), '0', '-1')),
    );
    for (const other of others) if (other.madeWith === token.id) await this.remove(other);
  }

  /** Returns whether every token in the chain of a token's makers still exists. */
  async #hasAllMakers({ madeWith }: AdminTokenRecord): Promise<boolean> {
    let maker = madeWith;
    while (maker !== undefined) {
      const found = await this.#records.find(maker);
      if (!found) return false;
      maker = found.madeWith;
    }
    return true;
  }

  async #removeOne({ id, ownerId = '' }: AdminTokenRecord): Promise<void> {
    const { adminToken, adminTokens, adminTokensOf, adminTokenUse } = this.#names;
    const steps = this.#redis.multi();
    steps.del(adminToken(id), adminTokenUse(id)).zrem(adminTokens, id).zrem(adminTokensOf(ownerId), id);
    await callRedisAll(steps);
  }
}
