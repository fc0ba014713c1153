import type { Redis } from 'ioredis';
import { z } from 'zod';
import { askRedis, askRedisAll } from '../redis/ask-redis.ts';
import { RedisScript } from '../redis/redis-script.ts';
import { readStored, StoredRecords, type ReportUnreadable } from '../redis/stored-records.ts';

const common = new URL('lua/emit.lua', import.meta.url);
const takeDue = new RedisScript(common, new URL('lua/take-due.lua', import.meta.url));
const beginAttempt = new RedisScript(common, new URL('lua/begin-attempt.lua', import.meta.url));
const endAttempt = new RedisScript(common, new URL('lua/end-attempt.lua', import.meta.url));
const repeatDeliveries = new RedisScript(common, new URL('lua/repeat-deliveries.lua', import.meta.url));
const sweepEnded = new RedisScript(common, new URL('lua/sweep-ended.lua', import.meta.url));

/** Endpoints whose lists one call sweeps. */
const sweptAtOnce = 200;

/** Milliseconds until a delivery that was taken is due again, unless its attempt has begun: a queue may be long. */
const takenForMs = 300_000;

/** Milliseconds after which an attempt counts as lost with its process. */
const attemptLeaseMs = 30_000;

export const deliveryStates = ['pending', 'delivered', 'dead'] as const;
export type DeliveryState = (typeof deliveryStates)[number];

const number = z.coerce.number();

/** What is stored of a delivery. Times in ms since 1970. */
const deliverySchema = z.object({
  /** The header `webhook-id`, the same in all attempts. */
  id: z.string(),
  endpoint: z.string(),
  /** Id of the event. */
  event: z.string(),
  type: z.string(),
  body: z.string(),
  state: z.enum(deliveryStates),
  /** Attempts that have ended, since it was sent or repeated. */
  attempts: number,
  createdAt: number,
  /** When it is tried next. */
  nextAt: number.optional(),
  endedAt: number.optional(),
  /** The last attempt: when it ended, how long it took, and what came of it. */
  lastAt: number.optional(),
  lastMs: number.optional(),
  lastStatus: number.optional(),
  lastError: z.string().optional(),
  /** There is one attempt only. */
  once: z.literal('1').optional(),
});

/** One event on its way to one endpoint. */
export type WebhookDelivery = z.output<typeof deliverySchema>;

/** A delivery that can be tried now. */
export interface DueDelivery {
  id: string;
  /** Attempts that it has had. */
  attempts: number;
}

const runningSchema = deliverySchema.extend({ elapsedMs: number });

/** A delivery whose attempt has begun, with the milliseconds since it was sent first. */
export type RunningDelivery = z.output<typeof runningSchema>;

/** How an attempt ended. */
export interface AttemptEnd {
  state: DeliveryState;
  /** Until it is tried again. */
  delayMs?: number | undefined;
  /** Whether this was an attempt: false for one that was given back. */
  counts: boolean;
  status?: number | undefined;
  error?: string | undefined;
  ms: number;
  /** Why the endpoint is disabled with it. */
  disables?: string | undefined;
}

/** Events on their way to endpoints, in Redis. Every method throws `store_unavailable`. */
export class WebhookDeliveries {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #report: ReportUnreadable;
  readonly #records: StoredRecords<WebhookDelivery>;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, report: ReportUnreadable) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#report = report;
    this.#records = new StoredRecords(redis, {
      kind: 'webhook delivery',
      schema: deliverySchema,
      nameOf: (id) => `${prefix}webhook-delivery:${id}`,
      report,
    });
  }

  /** A delivery of an endpoint; undefined when there is none. @throws UnreadableRecordError */
  async find(endpoint: string, id: string): Promise<WebhookDelivery | undefined> {
    const found = await this.#records.find(id);
    return found?.endpoint === endpoint ? found : undefined;
  }

  /** The newest deliveries of an endpoint: of one state, or of all. */
  async list(
    endpoint: string,
    { state, limit }: { state?: DeliveryState | undefined; limit: number },
  ): Promise<WebhookDelivery[]> {
    const lists = (state === undefined ? deliveryStates : [state]).map((each) => {
      const name = `${this.#prefix}webhook-${each}:${endpoint}`;
      return askRedis(this.#redis.zrange(name, '0', String(limit - 1), 'REV'));
    });
    const found = await this.#records.findAll((await Promise.all(lists)).flat());
    return found.toSorted((a, b) => b.createdAt - a.createdAt).slice(0, limit);
  }

  /** How many deliveries of each endpoint are pending, and how many were given up. */
  async counts(endpoints: readonly string[]): Promise<{ pending: number; dead: number }[]> {
    const commands = this.#redis.pipeline();
    for (const endpoint of endpoints)
      for (const state of ['pending', 'dead']) commands.zcard(`${this.#prefix}webhook-${state}:${endpoint}`);
    const counts = endpoints.length === 0 ? [] : await askRedisAll(commands);
    return endpoints.map((_, at) => ({ pending: Number(counts[2 * at]), dead: Number(counts[2 * at + 1]) }));
  }

  /**
   * Sends ended deliveries of an endpoint again, with the ids that they had, and with a day of attempts.
   * @param ids default: all that were given up
   * @returns how many wait now, or what is wrong with the endpoint
   */
  async repeat(endpoint: string, ids?: readonly string[]): Promise<number | 'unknown' | 'disabled'> {
    const outcome = await repeatDeliveries.run(this.#redis, { args: { prefix: this.#prefix, endpoint, ids } });
    return outcome === 'unknown' || outcome === 'disabled' ? outcome : Number(outcome);
  }

  /** Takes deliveries that are due: nobody else gets them for some minutes, unless their attempt begins and is lost. */
  async takeDue(atOnce: number): Promise<DueDelivery[]> {
    const args = { prefix: this.#prefix, atOnce, leaseMs: takenForMs };
    const reply = await takeDue.run(this.#redis, { args });
    const taken = Array.isArray(reply) ? reply.map(String) : [];
    return taken.flatMap((id, at) => (at % 2 === 0 ? [{ id, attempts: Number(taken[at + 1]) }] : []));
  }

  /** Takes deliveries from the lists of those that have ended which are kept no longer. @returns how many */
  async sweep(): Promise<number> {
    const endpoints = await askRedis(this.#redis.zrange(`${this.#prefix}webhooks`, '0', '-1'));
    let count = 0;
    for (let from = 0; from < endpoints.length; from += sweptAtOnce) {
      const args = { prefix: this.#prefix, endpoints: endpoints.slice(from, from + sweptAtOnce) };
      count += Number(await sweepEnded.run(this.#redis, { args }));
    }
    return count;
  }

  /** How many endpoints have deliveries that are not over. */
  countEndpoints(): Promise<number> {
    return askRedis(this.#redis.zcard(`${this.#prefix}webhook-due`));
  }

  /** Milliseconds for which the delivery that is due for longest has been waiting; 0 when none is due. */
  async lateMs(): Promise<number> {
    const [, dueAt] = await askRedis(this.#redis.zrange(`${this.#prefix}webhook-due`, '0', '0', 'WITHSCORES'));
    return dueAt === undefined ? 0 : Math.max(0, Date.now() - Number(dueAt));
  }

  /**
   * Begins an attempt, for which there are 30 seconds.
   * @returns the reason when the delivery was given up instead, as its endpoint is disabled; undefined where there is nothing to do:
   * another process has begun it, or it is over
   */
  async begin({ id, attempts }: DueDelivery): Promise<RunningDelivery | { givenUp: string } | undefined> {
    const args = { prefix: this.#prefix, id, attempts, leaseMs: attemptLeaseMs };
    const reply = await beginAttempt.run(this.#redis, { args });
    const fields = Array.isArray(reply) ? reply.map(String) : [];
    if (fields.length === 0) return undefined;
    if (fields[0] === 'given up') return { givenUp: fields[1] ?? '' };
    const entries = fields.flatMap((name, at) => (at % 2 === 0 ? [[name, fields[at + 1]] as const] : []));
    const read = readStored(runningSchema, Object.fromEntries(entries));
    if ('value' in read) return read.value;
    this.#report(`webhook delivery ${id}`, read.reason);
    return undefined;
  }

  /** Ends an attempt. False when it was over already. */
  async end({ id, attempts }: DueDelivery, end: AttemptEnd): Promise<boolean> {
    return (await endAttempt.run(this.#redis, { args: { prefix: this.#prefix, id, attempts, ...end } })) === 1;
  }
}
