import type { Redis } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';
import { askRedis } from '../redis/ask-redis.ts';
import { RedisScript } from '../redis/redis-script.ts';
import { StoredRecords, skipUnreadable, type ReportUnreadable } from '../redis/stored-records.ts';
import { storedFields } from '../redis/stored-value.ts';
import { batchRecordSchema, isPaused, type BatchRecord, type NewBatch } from './batch-record.ts';

const common = new URL('lua/batches.lua', import.meta.url);
const create = new RedisScript(common, new URL('lua/create.lua', import.meta.url));
const cancel = new RedisScript(common, new URL('lua/cancel.lua', import.meta.url));
const list = new RedisScript(new URL('lua/list.lua', import.meta.url));
const remove = new RedisScript(common, new URL('lua/remove.lua', import.meta.url));

/** An id as this router makes them. Any other is unknown. */
const idPattern = /^[\w-]{1,80}$/;

export interface BatchesBounds {
  /** Batches of one owner that are not over. */
  mostOpen: number;
  /** Milliseconds for which a batch is known after its time has run out. */
  keepMs: number;
}

/** One page of an owner's batches, newest first. */
export interface BatchPage {
  batches: BatchRecord[];
  /** Whether there are more in the direction of the page. */
  hasMore: boolean;
}

export interface PageRequest {
  limit: number;
  /** The batch that the page follows, in the list of the newest first. */
  after?: string | undefined;
  /** The batch that the page comes before. */
  before?: string | undefined;
}

/**
 * The batches of all owners, as their owners see them. Nobody finds those of others: an id of another owner is an unknown one.
 * Every method throws RouterError `store_unavailable` when Redis does not answer.
 */
export class Batches {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #bounds: BatchesBounds;
  readonly #records: StoredRecords<BatchRecord>;

  /** @param prefix what all names in Redis begin with */
  constructor(redis: Redis, prefix: string, { bounds, report }: { bounds: BatchesBounds; report: ReportUnreadable }) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#bounds = bounds;
    const nameOf = (id: string): string => `${prefix}batch:${id}`;
    this.#records = new StoredRecords(redis, { kind: 'batch', nameOf, schema: batchRecordSchema, report });
  }

  /** @throws RouterError `rate_limit_exceeded` if an owner has as many batches that are not over as it may */
  async assertRoom(owner: string): Promise<void> {
    const { mostOpen, keepMs } = this.#bounds;
    // The older ones are dropped when a batch is created.
    const name = `${this.#prefix}batches-open-of:${owner}`;
    const open = await askRedis(this.#redis.zcount(name, `(${Date.now() - keepMs}`, '+inf'));
    if (open >= mostOpen) throw tooMany(this.#bounds);
  }

  /** Stores a new batch. @throws RouterError `rate_limit_exceeded` if its owner has too many that are not over */
  async create(batch: NewBatch): Promise<BatchRecord> {
    const { id, owner, api, createdAt, expiresAt } = batch;
    const fields = storedFields({ ...batch, state: 'validating' });
    const args = { prefix: this.#prefix, id, owner, api, createdAt, expiresAt, fields, ...this.#bounds };
    if ((await create.run(this.#redis, { args })) !== 1) throw tooMany(this.#bounds);
    return batchRecordSchema.parse(fields);
  }

  /** One batch of an API; undefined if the owner has none with this id there. */
  async find(owner: string, api: string, id: string): Promise<BatchRecord | undefined> {
    if (!idPattern.test(id)) return undefined;
    const found = await this.#records.find(id);
    return found?.owner === owner && found.api === api ? withoutOldPause(found) : undefined;
  }

  /**
   * One page of the owner's batches of an API; undefined if `after` or `before` is none of them. They may be batches that were removed in
   * the last day.
   */
  async list(owner: string, api: string, page: PageRequest): Promise<BatchPage | undefined> {
    const reply = await list.run(this.#redis, { args: { prefix: this.#prefix, owner, api, ...page } });
    if (!Array.isArray(reply)) return undefined;
    const [more, ...ids] = reply.map(String);
    const found = await Promise.all(ids.map((id) => skipUnreadable(this.#records.find(id))));
    const batches = found.filter((batch) => batch !== undefined).map(withoutOldPause);
    return { batches, hasMore: more === '1' };
  }

  /**
   * The owner's newest batches of several APIs together.
   * @param after the batch that they follow, which may be of any of the APIs; undefined for the first ones
   */
  async listAll(
    owner: string,
    apis: readonly string[],
    { limit, after }: { limit: number; after?: Pick<BatchRecord, 'id' | 'createdAt'> | undefined },
  ): Promise<BatchPage> {
    const pages = await Promise.all(
      apis.map((api) => this.#idsAfter(`${this.#prefix}batches-of:${api}:${owner}`, limit, after)),
    );
    const ids = pages.flat().toSorted(([a, aAt], [b, bAt]) => bAt - aAt || (a < b ? 1 : -1));
    const found = await this.#records.findAll(ids.slice(0, limit).map(([id]) => id));
    return { batches: found.map(withoutOldPause), hasMore: ids.length > limit };
  }

  /** Ids and times of one more than so many batches that follow one, or that come first, newest first. */
  async #idsAfter(
    name: string,
    limit: number,
    after: Pick<BatchRecord, 'id' | 'createdAt'> | undefined,
  ): Promise<[id: string, createdAt: number][]> {
    const to = after?.createdAt ?? '+inf';
    // Of those that were created in the same millisecond, some may come before it.
    const same = after ? await askRedis(this.#redis.zcount(name, to, to)) : 0;
    const reply = await askRedis(
      this.#redis.zrevrangebyscore(name, to, '-inf', 'WITHSCORES', 'LIMIT', 0, limit + 1 + same),
    );
    const ids: [string, number][] = [];
    for (let at = 0; at < reply.length; at += 2) ids.push([reply[at] ?? '', Number(reply[at + 1])]);
    return after ? ids.filter(([id, createdAt]) => createdAt < after.createdAt || id < after.id) : ids;
  }

  /** How many batches of all owners are not over. */
  countAllOpen(): Promise<number> {
    return askRedis(this.#redis.zcard(`${this.#prefix}batches-open`));
  }

  /** Has a batch cancelled. One that is over stays as it is. @returns whether it was not over */
  async cancel(id: string): Promise<boolean> {
    return (await cancel.run(this.#redis, { args: { prefix: this.#prefix, id } })) === 1;
  }

  /** Forgets a batch that is over. @returns false for one that is not */
  async remove(id: string): Promise<boolean> {
    return (await remove.run(this.#redis, { args: { prefix: this.#prefix, id } })) === 1;
  }
}

function tooMany({ mostOpen }: BatchesBounds): RouterError {
  const message = `There are ${mostOpen} batches that are not over, and there may not be more.`;
  return new RouterError('rate_limit_exceeded', message, { retryAfter: 30 });
}

/** A batch as it is shown: a pause that is none any more is not. */
function withoutOldPause(batch: BatchRecord): BatchRecord {
  if (isPaused(batch)) return batch;
  const { pausedUntil: _, pausedFor: __, ...rest } = batch;
  return rest;
}
