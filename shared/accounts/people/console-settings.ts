import type { Redis } from 'ioredis';
import { z } from 'zod';
import { accountNames, type AccountNames } from '../redis/account-names.ts';
import { askRedis } from '../redis/ask-redis.ts';
import { storedFields } from '../redis/stored-value.ts';

/** What administrators set for the console. */
export const consoleSettingsSchema = z.strictObject({
  /** Days until an invitation's link expires. */
  invitationDays: z.number().int().min(1).max(30),
  /** Hours without a request after which a session ends. */
  sessionHours: z.number().int().min(1).max(720),
  /** Whether members may make personal keys. */
  membersMakeKeys: z.boolean(),
});

export type ConsoleSettings = z.infer<typeof consoleSettingsSchema>;

const stored = z.object({
  invitationDays: z.coerce.number().default(7),
  sessionHours: z.coerce.number().default(24),
  membersMakeKeys: z.stringbool().default(true),
});

/** The settings of the console, in Redis. Every method throws `store_unavailable` as KeyStore does. */
export class ConsoleSettingsStore {
  readonly #redis: Redis;
  readonly #names: AccountNames;

  /** @param prefix what all names in Redis begin with */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
  }

  async read(): Promise<ConsoleSettings> {
    return stored.parse(await askRedis(this.#redis.hgetall(this.#names.settings)));
  }

  /** Changes what is given. */
  async change(change: { [name in keyof ConsoleSettings]?: ConsoleSettings[name] | undefined }): Promise<void> {
    const fields = storedFields(change);
    if (Object.keys(fields).length > 0) await askRedis(this.#redis.hset(this.#names.settings, fields));
  }
}
