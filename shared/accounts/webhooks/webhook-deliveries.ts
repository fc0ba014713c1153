import type { Redis } from 'ioredis';
import { z } from 'zod';
import { callRedis, callRedisAll } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { StoredRecords, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { DueMessages } from './due-messages.ts';

const common = new URL('lua/emit.lua', import.meta.url);
const scripts = {
  takeDue: new RedisScript(common, new URL('lua/take-due.lua', import.meta.url)),
  beginAttempt: new RedisScript(common, new URL('lua/begin-attempt.lua', import.meta.url)),
  endAttempt: new RedisScript(common, new URL('lua/end-attempt.lua', import.meta.url)),
};
const repeatDeliveries = new RedisScript(common, new URL('lua/repeat-deliveries.lua', import.meta.url));
const sweepEnded = new RedisScript(common, new URL('lua/sweep-ended.lua', import.meta.url));

const sweptAtOnce = 200;

/** Milliseconds after the beginning of a try until it counts as lost with its process, unless it has ended. */
const tryLeaseMs = 30_000;

export const deliveryStates = ['pending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

const storedNumber = z.coerce.number();

/** The stored record of a delivery. Times in ms since 1970. */
const deliverySchema = z.object({
  /** The value of the header `webhook-id`, which is the same in all tries. */
  id: z.string(),
  endpoint: z.string(),
  event: z.string(),
  type: z.string(),
  body: z.string(),
  state: z.enum(deliveryStates),
  /** Number of tries that have ended since the delivery was sent, or last sent again. */
  attempts: storedNumber,
  createdAt: storedNumber,
  nextAt: storedNumber.optional(),
  endedAt: storedNumber.optional(),
  /** When the last try ended. */
  lastAt: storedNumber.optional(),
  /** How long the last try took. */
  lastMs: storedNumber.optional(),
  lastStatus: storedNumber.optional(),
  lastError: z.string().optional(),
  /** Present if there is only one try. */
  once: z.literal('1').optional(),
});

/** One event on its way to one endpoint. */
export type WebhookDelivery = z.output<typeof deliverySchema>;

const runningSchema = deliverySchema.extend({ elapsedMs: storedNumber });

/** A delivery whose try has begun, with the milliseconds since it was sent, or last sent again. */
export type RunningDelivery = z.output<typeof runningSchema>;

/** Events on their way to endpoints, in Redis. Every method throws `store_unavailable`. */
export class WebhookDeliveries extends DueMessages<RunningDelivery> {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #records: StoredRecords<WebhookDelivery>;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, report: ReportUnreadable) {
    const kind = 'webhook delivery';
    super(redis, { prefix, kind, scripts, schema: runningSchema, tryLeaseMs, report });
    this.#redis = redis;
    this.#prefix = prefix;
    this.#records = new StoredRecords(redis, {
      kind,
      schema: deliverySchema,
      nameOf: (id) => `${prefix}webhook-delivery:${id}`,
      report,
    });
  }

  /**
   * Returns a delivery of an endpoint; undefined if there is none with this id.
   * @throws UnreadableRecordError
   */
  async find(endpoint: string, id: string): Promise<WebhookDelivery | undefined> {
    const delivery = await this.#records.find(id);
    return delivery?.endpoint === endpoint ? delivery : undefined;
  }

  /** Returns the newest deliveries of an endpoint, in one state or in any state. */
  async list(
    endpoint: string,
    { state, limit }: { state?: DeliveryState | undefined; limit: number },
  ): Promise<WebhookDelivery[]> {
    const idLists = (state === undefined ? deliveryStates : [state]).map((listedState) => {
      const name = `${this.#prefix}webhook-${listedState}:${endpoint}`;
      return callRedis(this.#redis.zrange(name, '0', String(limit - 1), 'REV'));
    });
    const deliveries = await this.#records.findAll((await Promise.all(idLists)).flat());
    return deliveries.toSorted((a, b) => b.createdAt - a.createdAt).slice(0, limit);
  }

  /** Counts, for each endpoint, the pending deliveries and the deliveries that were given up. */
  async countByState(endpoints: readonly string[]): Promise<{ pending: number; dead: number }[]> {
    const commands = this.#redis.pipeline();
    for (const endpoint of endpoints)
      for (const state of ['pending', 'dead']) commands.zcard(`${this.#prefix}webhook-${state}:${endpoint}`);
    const counts = endpoints.length === 0 ? [] : await callRedisAll(commands);
    return endpoints.map((_, index) => ({ pending: Number(counts[2 * index]), dead: Number(counts[2 * index + 1]) }));
  }

  /**
   * Sends ended deliveries of an endpoint again, with their previous ids, and tries them for another day.
   * @param ids ids of the deliveries; default: all deliveries that were given up
   * @returns how many deliveries were queued again, or the state of the endpoint that prevents this
   */
  async repeat(endpoint: string, ids?: readonly string[]): Promise<number | 'unknown' | 'disabled'> {
    const outcome = await repeatDeliveries.run(this.#redis, { args: { prefix: this.#prefix, endpoint, ids } });
    return outcome === 'unknown' || outcome === 'disabled' ? outcome : Number(outcome);
  }

  /**
   * Removes deliveries that are no longer kept from the lists of ended deliveries.
   * @returns how many were removed
   */
  async sweep(): Promise<number> {
    const endpoints = await callRedis(this.#redis.zrange(`${this.#prefix}webhooks`, '0', '-1'));
    let count = 0;
    for (let from = 0; from < endpoints.length; from += sweptAtOnce) {
      const args = { prefix: this.#prefix, endpoints: endpoints.slice(from, from + sweptAtOnce) };
      count += Number(await sweepEnded.run(this.#redis, { args }));
    }
    return count;
  }

  /** Counts the endpoints that have unfinished deliveries. */
  countEndpoints(): Promise<number> {
    return callRedis(this.#redis.zcard(`${this.#prefix}webhook-due`));
  }

  /** Returns the milliseconds for which the longest-waiting delivery has been due; 0 if no delivery is due. */
  async readLateMs(): Promise<number> {
    const [, dueAt] = await callRedis(this.#redis.zrange(`${this.#prefix}webhook-due`, '0', '0', 'WITHSCORES'));
    return dueAt === undefined ? 0 : Math.max(0, Date.now() - Number(dueAt));
  }
}
