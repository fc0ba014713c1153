import type { Redis } from 'ioredis';
import { RouterError } from '#shared/core/errors.ts';
import { callRedis } from '#shared/store/redis/call-redis.ts';
import { readNewest } from '#shared/store/redis/read-newest.ts';
import { RedisScript, pagesScript, scriptStart } from '#shared/store/redis/redis-script.ts';
import { StoredRecords, skipUnreadable, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { toStoredFields } from '#shared/store/redis/stored-value.ts';
import { batchRecordSchema, isPaused, type BatchRecord, type NewBatch } from './batch-record.ts';

const commonScripts = [scriptStart, new URL('lua/batches.lua', import.meta.url)];
const create = new RedisScript(...commonScripts, new URL('lua/create.lua', import.meta.url));
const cancel = new RedisScript(...commonScripts, new URL('lua/cancel.lua', import.meta.url));
const list = new RedisScript(pagesScript, new URL('lua/list.lua', import.meta.url));
const cancelOwner = new RedisScript(scriptStart, new URL('lua/cancel-owner.lua', import.meta.url));
const remove = new RedisScript(pagesScript, ...commonScripts, new URL('lua/remove.lua', import.meta.url));

/** The form of the ids that this router makes. Any other id counts as unknown. */
const idPattern = /^[\w-]{1,80}$/;

export interface BatchesBounds {
  /** Maximum number of unfinished batches of one owner. */
  maxOpen: number;
  /** Milliseconds for which a batch is kept after the time at which it expires. */
  keepMs: number;
  /** Maximum number of batches of one owner and API. Beyond it, each new batch removes the oldest batch that is over. Default 1,000. */
  maxKept?: number;
}

const defaultMaxKept = 1_000;

/** The bounds of every ingress and batch runner. */
export const batchBounds = { maxOpen: 100, keepMs: 30 * 24 * 3_600_000 } satisfies BatchesBounds;

export interface BatchPage {
  batches: BatchRecord[];
  /** Whether more batches follow in the direction of the page. */
  hasMore: boolean;
}

export interface PageRequest {
  limit: number;
  /** Id of the batch after which the page begins; the newest batch comes first. */
  after?: string | undefined;
  /** Id of the batch before which the page ends. Without effect if there is `after`. */
  before?: string | undefined;
}

/**
 * The batches of all owners. To each owner, a batch of another owner is unknown. Every method throws RouterError `store_unavailable` when
 * Redis does not answer.
 */
export class Batches {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #bounds: BatchesBounds;
  readonly #records: StoredRecords<BatchRecord>;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, { bounds, report }: { bounds: BatchesBounds; report: ReportUnreadable }) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#bounds = bounds;
    const nameOf = (id: string): string => `${prefix}batch:${id}`;
    this.#records = new StoredRecords(redis, { kind: 'batch', nameOf, schema: batchRecordSchema, report });
  }

  /** @throws RouterError `rate_limit_exceeded` if an owner has the maximum number of unfinished batches */
  async assertRoom(owner: string): Promise<void> {
    const { maxOpen, keepMs } = this.#bounds;
    // Older entries do not count. They are removed when the next batch is created.
    const name = `${this.#prefix}batches-open-of:${owner}`;
    const open = await callRedis(this.#redis.zcount(name, `(${Date.now() - keepMs}`, '+inf'));
    if (open >= maxOpen) throw createTooManyBatchesError(this.#bounds);
  }

  /**
   * Stores a new batch.
   * @throws RouterError `rate_limit_exceeded` if its owner has too many unfinished batches
   */
  async create(batch: NewBatch): Promise<BatchRecord> {
    const { id, owner, api, createdAt, expiresAt } = batch;
    const fields = toStoredFields({ ...batch, state: 'validating' });
    const args = {
      prefix: this.#prefix,
      id,
      owner,
      api,
      createdAt,
      expiresAt,
      fields,
      maxKept: defaultMaxKept,
      ...this.#bounds,
    };
    if ((await create.run(this.#redis, { args })) !== 1) throw createTooManyBatchesError(this.#bounds);
    return batchRecordSchema.parse(fields);
  }

  async find(owner: string, api: string, id: string): Promise<BatchRecord | undefined> {
    if (!idPattern.test(id)) return undefined;
    const batch = await this.#records.find(id);
    return batch?.owner === owner && batch.api === api ? dropOldPause(batch) : undefined;
  }

  /**
   * Returns one page of the owner's batches of an API. `after` and `before` may be batches that were removed lately.
   * @returns undefined if `after` or `before` is no batch of the owner and API
   */
  async list(owner: string, api: string, page: PageRequest): Promise<BatchPage | undefined> {
    const reply = await list.run(this.#redis, {
      args: { prefix: this.#prefix, owner, api, newestFirst: true, ...page },
    });
    if (!Array.isArray(reply)) return undefined;
    const [more, ...ids] = reply.map(String);
    const records = await Promise.all(ids.map((id) => skipUnreadable(this.#records.find(id))));
    const batches = records.filter((batch) => batch !== undefined).map(dropOldPause);
    return { batches, hasMore: more === '1' };
  }

  /**
   * Returns the owner's newest batches of several APIs together.
   * @param after the last batch of the previous page, of any of the APIs; undefined for the first page
   */
  async listAll(
    owner: string,
    apis: readonly string[],
    { limit, after }: { limit: number; after?: Pick<BatchRecord, 'id' | 'createdAt'> | undefined },
  ): Promise<BatchPage> {
    const names = apis.map((api) => `${this.#prefix}batches-of:${api}:${owner}`);
    const place = after && { at: after.createdAt, member: after.id };
    const found = await readNewest(this.#redis, names, limit + 1, place);
    const batches = await this.#records.findAll(found.slice(0, limit).map(({ member }) => member));
    return { batches: batches.map(dropOldPause), hasMore: found.length > limit };
  }

  countAllOpen(): Promise<number> {
    return callRedis(this.#redis.zcard(`${this.#prefix}batches-open`));
  }

  /**
   * Cancels a batch. A batch that is over stays as it is.
   * @returns whether the batch was unfinished
   */
  async cancel(id: string): Promise<boolean> {
    return (await cancel.run(this.#redis, { args: { prefix: this.#prefix, id } })) === 1;
  }

  /**
   * Removes a batch that is over.
   * @returns false if the batch is unfinished
   */
  async delete(id: string): Promise<boolean> {
    return (await remove.run(this.#redis, { args: { prefix: this.#prefix, id } })) === 1;
  }
}

/**
 * Cancels all batches of an owner that no longer exists: a deleted team, or a revoked key. Lines without a result are not run any more.
 * One call is enough, because the number of an owner's unfinished batches is bounded.
 * @param prefix start of all names in Redis
 * @param key if defined, only the batches that were created with this key are cancelled
 * @throws RouterError `store_unavailable`
 */
export async function cancelBatchesOfOwner(redis: Redis, prefix: string, owner: string, key?: string): Promise<void> {
  await cancelOwner.run(redis, { args: { prefix, owner, key } });
}

function createTooManyBatchesError({ maxOpen }: BatchesBounds): RouterError {
  const message = `There are ${maxOpen} batches that are not over, and there may not be more.`;
  return new RouterError('rate_limit_exceeded', message, { retryAfter: 30 });
}

/** Removes the description of a pause from a batch, if the pause is over. */
function dropOldPause(batch: BatchRecord): BatchRecord {
  if (isPaused(batch)) return batch;
  const { pausedUntil: _, pausedFor: __, blockedUntil: ___, lacksWorker: ____, ...rest } = batch;
  return rest;
}
