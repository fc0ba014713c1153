import { timingSafeEqual } from 'node:crypto';
import type { Redis } from 'ioredis';
import { mintId } from '../keys/mint-key.ts';
import { mintToken, tokenHash } from '../people/secret-token.ts';
import { accountNames, type AccountNames } from '../redis/account-names.ts';
import { askRedis, askRedisAll } from '../redis/ask-redis.ts';
import { RedisScript } from '../redis/redis-script.ts';
import { StoredRecords, type ReportUnreadable } from '../redis/stored-records.ts';
import { storedFields } from '../redis/stored-value.ts';
import {
  adminTokenSchema,
  parseAdminToken,
  rawAdminToken,
  type AdminScope,
  type AdminTokenRecord,
} from './admin-token.ts';

const createAdminToken = new RedisScript(new URL('lua/create-admin-token.lua', import.meta.url));

/** Tokens of one person, and of the command line, that have not expired. */
const mostPerOwner = 100;

/** Milliseconds: the last use of a token is known to the minute. */
const useMs = 60_000;

export interface NewAdminToken extends Pick<
  AdminTokenRecord,
  'name' | 'expiresAt' | 'ownerId' | 'madeAt' | 'epoch' | 'madeWith' | 'isForCommand'
> {
  scopes: readonly AdminScope[];
}

/** Why a token was not made: its person is gone, there are too many, or the token with which it is made is revoked. */
export type AdminTokenRefusal = 'no owner' | 'too many' | 'no maker';

/** A token, and when it was last used, to the minute. */
export type ListedAdminToken = AdminTokenRecord & { lastUsedAt: number | undefined };

/** The admin tokens, in Redis, which forgets them when they expire. Every method throws `store_unavailable` as KeyStore does. */
export class AdminTokenStore {
  readonly #redis: Redis;
  readonly #names: AccountNames;
  readonly #records: StoredRecords<AdminTokenRecord>;

  /** @param prefix what all names in Redis begin with */
  constructor(redis: Redis, prefix: string, report: ReportUnreadable) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
    const nameOf = this.#names.adminToken;
    this.#records = new StoredRecords(redis, { kind: 'admin token', schema: adminTokenSchema, nameOf, report });
  }

  /** Makes a token, unless its maker is over. This is the only moment at which its raw form is known. */
  async create(wanted: NewAdminToken): Promise<{ raw: string; record: AdminTokenRecord } | AdminTokenRefusal> {
    const secret = mintToken();
    const { ownerId, madeWith } = wanted;
    const record: AdminTokenRecord = {
      ...wanted,
      scopes: [...wanted.scopes],
      id: mintId(),
      hash: tokenHash(secret),
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
      maxPerOwner: mostPerOwner,
      keptMs: Math.max(1, record.expiresAt - record.createdAt),
      tokenPrefix: adminToken(''),
      fields: storedFields(record),
    };
    const outcome = await createAdminToken.run(this.#redis, { keys, args });
    if (outcome !== 'created') return outcome as AdminTokenRefusal;
    return { raw: rawAdminToken(record.id, secret), record };
  }

  /** The token of this raw form, if there is one that has not expired; its use is noted. */
  async verify(raw: string, now: number): Promise<AdminTokenRecord | undefined> {
    const parsed = parseAdminToken(raw);
    const record = parsed && (await this.#records.find(parsed.id));
    if (!record || record.expiresAt <= now) return undefined;
    if (!(await this.#stands(record))) return undefined;
    if (!timingSafeEqual(Buffer.from(record.hash), Buffer.from(tokenHash(parsed.secret)))) return undefined;
    const name = this.#names.adminTokenUse(record.id);
    await askRedis(this.#redis.set(name, String(now - (now % useMs)), 'PX', record.expiresAt - now));
    return record;
  }

  find(id: string): Promise<AdminTokenRecord | undefined> {
    return this.#records.find(id);
  }

  /** The tokens of a person that have not expired, or all, oldest first. */
  async list(ownerId?: string): Promise<ListedAdminToken[]> {
    const { adminTokens, adminTokensOf, adminTokenUse } = this.#names;
    const index = ownerId === undefined ? adminTokens : adminTokensOf(ownerId);
    const found = await this.#records.findAll(await askRedis(this.#redis.zrange(index, '0', '-1')));
    if (found.length === 0) return [];
    const uses = await askRedis(this.#redis.mget(...found.map(({ id }) => adminTokenUse(id))));
    return found.map((record, at) => ({ ...record, lastUsedAt: Number(uses[at]) || undefined }));
  }

  /** Removes a token, and those that were made with it. They are refused from then on. */
  async remove(token: AdminTokenRecord): Promise<void> {
    await this.#removeOne(token);
    // What a maker may have made is refused without it. Here it leaves the lists, too.
    const others = await this.#records.findAll(
      await askRedis(this.#redis.zrange(this.#names.adminTokensOf(token.ownerId ?? ''), '0', '-1')),
    );
    for (const other of others) if (other.madeWith === token.id) await this.remove(other);
  }

  /** Whether the token with which one was made is there, and the one with which that was made, and so on. */
  async #stands({ madeWith }: AdminTokenRecord): Promise<boolean> {
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
    await askRedisAll(steps);
  }
}
