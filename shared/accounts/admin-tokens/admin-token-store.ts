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

export interface NewAdminToken {
  name: string;
  scopes: readonly AdminScope[];
  /** In ms since 1970. */
  expiresAt: number;
  ownerId?: string | undefined;
  madeAt?: string | undefined;
}

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

  /** Makes a token. This is the only moment at which its raw form is known. */
  async create(wanted: NewAdminToken): Promise<{ raw: string; record: AdminTokenRecord } | 'no owner' | 'too many'> {
    const secret = mintToken();
    const { ownerId } = wanted;
    const record: AdminTokenRecord = {
      ...wanted,
      scopes: [...wanted.scopes],
      id: mintId(),
      hash: tokenHash(secret),
      createdAt: Date.now(),
    };
    const { adminToken, adminTokens, adminTokensOf, user } = this.#names;
    const keys = [adminToken(record.id), adminTokens, adminTokensOf(ownerId ?? ''), user(ownerId ?? '')];
    const args = {
      id: record.id,
      createdAt: record.createdAt,
      isOwned: ownerId !== undefined,
      maxPerOwner: mostPerOwner,
      keptMs: Math.max(1, record.expiresAt - record.createdAt),
      tokenPrefix: adminToken(''),
      fields: storedFields(record),
    };
    const outcome = await createAdminToken.run(this.#redis, { keys, args });
    if (outcome !== 'created') return outcome as 'no owner' | 'too many';
    return { raw: rawAdminToken(record.id, secret), record };
  }

  /** The token of this raw form, if there is one that has not expired; its use is noted. */
  async verify(raw: string, now: number): Promise<AdminTokenRecord | undefined> {
    const parsed = parseAdminToken(raw);
    const record = parsed && (await this.#records.find(parsed.id));
    if (!record || record.expiresAt <= now) return undefined;
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

  /** Removes a token. It is refused from then on. */
  async remove({ id, ownerId = '' }: AdminTokenRecord): Promise<void> {
    const { adminToken, adminTokens, adminTokensOf, adminTokenUse } = this.#names;
    const steps = this.#redis.multi();
    steps.del(adminToken(id), adminTokenUse(id)).zrem(adminTokens, id).zrem(adminTokensOf(ownerId), id);
    await askRedisAll(steps);
  }
}
