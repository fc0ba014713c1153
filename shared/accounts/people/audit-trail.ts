import type { Redis } from 'ioredis';
import { z } from 'zod';
import { accountNames, type AccountNames } from '../redis/account-names.ts';
import { askRedis } from '../redis/ask-redis.ts';

/** Entries that are kept, or a few more: Redis cuts the stream in whole blocks. */
const mostEntries = 10_000;
const entriesPerPage = 100;

const entrySchema = z.object({
  /** Who did it; null for the command line. */
  actor: z.object({ id: z.string(), name: z.string() }).nullable(),
  /** As `key.create`, `user.block`. */
  action: z.string(),
  /** What was changed. */
  target: z.object({ kind: z.string(), id: z.string(), name: z.string() }).nullable(),
  /** Old and new values, never a secret. */
  details: z.record(z.string(), z.unknown()),
});

/** One change of an account, as it is told to the trail. */
export type AuditNote = z.infer<typeof entrySchema>;

/** One change of an account, with the time, in ms since 1970, and its place in the trail. */
export type AuditEntry = AuditNote & { id: string; at: number };

/** Who changed what, in a stream of Redis of bounded length. Every method throws `store_unavailable` as KeyStore does. */
export class AuditTrail {
  readonly #redis: Redis;
  readonly #names: AccountNames;

  /** @param prefix what all names in Redis begin with */
  constructor(redis: Redis, prefix: string) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
  }

  async add(note: AuditNote): Promise<void> {
    const entry = JSON.stringify(note);
    await askRedis(this.#redis.xadd(this.#names.audit, 'MAXLEN', '~', mostEntries, '*', 'entry', entry));
  }

  /** A hundred entries, newest first: the newest ones, or those before an entry. */
  async list(before?: string): Promise<AuditEntry[]> {
    const end = before === undefined ? '+' : `(${before}`;
    const found = await askRedis(this.#redis.xrevrange(this.#names.audit, end, '-', 'COUNT', entriesPerPage));
    return found.map(([id, [, entry = '']]) => ({
      id,
      at: Number(id.split('-')[0]),
      ...entrySchema.parse(JSON.parse(entry)),
    }));
  }
}
