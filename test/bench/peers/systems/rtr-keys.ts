import { connectRedis, type RedisConnection } from '#shared/store/redis/connect-redis.ts';
import { createKey, createOwnedKey } from '#shared/accounts/keys/create-key.ts';
import { KeyStore } from '#shared/accounts/keys/key-store.ts';
import type { Limits } from '#shared/accounts/limits/limits.ts';
import { TeamStore } from '#shared/accounts/people/team-store.ts';
import { createLog } from '#shared/core/log.ts';
import type { Access } from './system.ts';

/** Limits of rate, tokens and budget that are never reached: their cost is the counting. */
const limits: Limits = {
  requestsPerMinute: 100_000_000,
  tokensPerMinute: 100_000_000_000,
  tokensPerDay: 1_000_000_000_000,
  costPerDay: 1_000_000,
  costPerMonth: 10_000_000,
};

const withConcurrency: Limits = { ...limits, concurrentRequests: 100_000 };

export class RtrKeys {
  readonly #connection: RedisConnection;
  readonly #prefix: string;
  readonly #made = new Map<Access, string>();

  private constructor(connection: RedisConnection, prefix: string) {
    this.#connection = connection;
    this.#prefix = `${prefix}:`;
  }

  static async open(redisUrl: string, prefix: string): Promise<RtrKeys> {
    const log = createLog({ service: 'bench', level: 'fatal', format: 'json' });
    const connection = connectRedis(redisUrl, { log, name: 'bench' });
    await connection.whenReady(AbortSignal.timeout(5_000));
    return new RtrKeys(connection, prefix);
  }

  static async makeOne(redisUrl: string, prefix: string): Promise<string> {
    const keys = await RtrKeys.open(redisUrl, prefix);
    try {
      return await keys.keyFor('unlimited');
    } finally {
      keys.close();
    }
  }

  async keyFor(access: Access): Promise<string> {
    const key = this.#made.get(access) ?? (await this.#make(access));
    this.#made.set(access, key);
    return key;
  }

  /** Creates unused keys without limits. */
  async makeMany(count: number): Promise<string[]> {
    const keys: string[] = [];
    while (keys.length < count) keys.push(await this.#make('unlimited'));
    return keys;
  }

  close(): void {
    this.#connection.close();
  }

  async #make(access: Access): Promise<string> {
    const store = new KeyStore(this.#connection.redis, this.#prefix);
    if (access === 'limited key and team') return this.#makeOfTeam(access, limits);
    if (access === 'limited key and team, concurrency too') return this.#makeOfTeam(access, withConcurrency);
    const own = access === 'limited key' ? { limits } : {};
    return (await createKey(store, { name: access, class: 'normal', kind: 'router', ...own })).rawKey;
  }

  async #makeOfTeam(name: string, ofBoth: Limits): Promise<string> {
    const store = new KeyStore(this.#connection.redis, this.#prefix);
    const teams = new TeamStore(this.#connection.redis, this.#prefix, () => undefined);
    const { id } = await teams.create(name);
    await teams.change(id, { limits: ofBoth });
    const key = await createOwnedKey(store, { name, class: 'normal', kind: 'team', ownerId: id, limits: ofBoth });
    if (typeof key === 'string') throw new Error(`there is no key of the team: ${key}`);
    return key.rawKey;
  }
}
