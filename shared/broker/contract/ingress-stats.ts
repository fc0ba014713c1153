import { z } from 'zod';
import type { Broker } from '../connection/connect-broker.ts';
import { findCommonVersion, contractVersion, ownContract } from './contract-range.ts';
import { latencyBoundsMs } from '#shared/core/metrics/latency-classes.ts';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { parseJson } from './ticket.ts';

/** Maximum ejected workers in one message. */
export const maxEjected = 100;

/** Maximum running turns of agent sessions in one message. A hundred turns have about 25 kB. */
export const maxTurns = 100;

const count = z.number().int().nonnegative();
/**
 * One value for each second, oldest first. The last value belongs to the second that ended at the message's time. Seconds before the first
 * value count as 0.
 */
const countsBySecond = z.array(z.number().nonnegative()).max(60);
/** One count for each tier. Tiers that this release does not know are dropped. */
const countsByTier = z.record(z.string(), z.unknown()).transform((counts) => {
  const knownCounts: Partial<Record<Tier, number>> = {};
  for (const tier of tiers) {
    const { data } = count.safeParse(counts[tier]);
    if (data !== undefined) knownCounts[tier] = data;
  }
  return knownCounts;
});
const turnSchema = z.object({
  request: z.string().max(200),
  key: z.string().max(200),
  /** The person that owns the key; empty if no person does. */
  user: z.string().max(100),
  /** The team that owns the key; empty if no team does. */
  team: z.string().max(100),
  program: z.string().max(32),
  session: z.string().max(128),
  agent: z.string().max(128).optional(),
  parent: z.string().max(128).optional(),
  type: z.string().max(64).optional(),
  /** When the turn's request came, in milliseconds since 1970. */
  since: z.number(),
  /** Absent while no worker has the turn's job. */
  model: z.string().max(256).optional(),
});
const laneSchema = z.object({
  tier: z.enum(tiers),
  pool: z.string().max(64),
  class: z.enum(priorityClasses),
  waiting: count,
});

/** Creates the schema of a list that is cut after `maxEntries` entries. Entries that this release cannot parse are dropped. */
function createListSchema<T extends z.ZodType>(entrySchema: T, maxEntries: number) {
  const read = (value: unknown): z.output<T>[] => {
    const { data } = entrySchema.safeParse(value);
    return data === undefined ? [] : [data];
  };
  return z.array(z.unknown()).transform((entries) => entries.slice(0, maxEntries).flatMap(read));
}

/**
 * The message that a dispatcher publishes at `subjects.ingressStats` each second. Every dispatcher subscribes, and receives its own
 * messages, too. Each message has all counts of the last minute or hour, so a lost message does no harm. Times are milliseconds since 1970.
 */
export const ingressStatsSchema = z.object({
  /** The newest version of the contract that the dispatcher speaks. */
  v: contractVersion,
  /** The oldest version of the contract that the dispatcher speaks; absent if it is also the newest. */
  oldest: contractVersion.optional(),
  /** The end of the last second that the message counts. */
  at: z.number(),
  /** Requests that ended in each of the last 60 seconds. */
  requests: countsBySecond,
  /** Tokens of output in each of the last 60 seconds. */
  tokens: countsBySecond,
  /** Requests that failed in each of the last 60 seconds. */
  errors: countsBySecond,
  /** Failed requests in each of the last 60 seconds for which the router or an upstream is at fault, see `isFault`. */
  faults: countsBySecond,
  /**
   * Requests of the last minute by the time to their first byte: one count for each class of `firstTokenBoundsMs`, and one for longer
   * times.
   */
  firstToken: z.array(count).max(64),
  activeStreams: count,
  /** Requests that each tier served in the last hour. */
  servedByTier: countsByTier,
  /** Waiting requests by lane. A request that waits in several lanes counts in each. */
  lanes: createListSchema(laneSchema, 500),
  /** Waiting requests, each counted once. */
  waiting: count,
  /** Requests that wait in no lane, because no worker can serve them right now. A request counts in each tier that may serve it. */
  unplaced: createListSchema(laneSchema.omit({ pool: true }), 100),
  /** Waiting requests by tier. A request counts in each tier that may serve it, even in a tier without workers. */
  waitingByTier: countsByTier,
  /** Requests that were refused before any worker got them, by error code. */
  refused: createListSchema(z.object({ code: z.string().max(64), minute: count, hour: count }), 100),
  /**
   * The workers that the dispatcher has ejected, each with the model or tool, and the reason: `slow` or an error code. A batch runner
   * ejects no workers, so its stats do not have this field.
   */
  ejected: createListSchema(
    z.object({ worker: z.string().max(200), model: z.string().max(256), reason: z.string().max(64) }),
    maxEjected,
  ).optional(),
  /** The running turns of coding agents' sessions, longest running first. */
  turns: createListSchema(turnSchema, maxTurns),
  /** The last failures, newest first. They contain no text of an upstream or of a request, because either may quote a prompt. */
  failures: createListSchema(
    z.object({
      at: z.number(),
      requestId: z.string(),
      code: z.string(),
      /** The person whose personal key or sign-in session sent the request; absent for team and router keys. */
      userId: z.string().optional(),
      model: z.string().optional(),
      tier: z.enum(tiers).optional().catch(undefined),
      worker: z.string().optional(),
    }),
    50,
  ),
});

export type IngressStats = z.infer<typeof ingressStatsSchema>;
export type RunningTurnStats = IngressStats['turns'][number];
export type EjectedWorker = NonNullable<IngressStats['ejected']>[number];
export type Failure = IngressStats['failures'][number];

/** The stats of a dispatcher without any activity. */
export const emptyIngressStats: IngressStats = {
  v: ownContract.newest,
  oldest: ownContract.oldest,
  at: 0,
  requests: [],
  tokens: [],
  errors: [],
  faults: [],
  firstToken: [],
  activeStreams: 0,
  servedByTier: {},
  lanes: [],
  waiting: 0,
  unplaced: [],
  waitingByTier: {},
  refused: [],
  turns: [],
  failures: [],
};

/** The upper bounds, in milliseconds, of the classes by which times to the first byte are counted. The last is about two minutes. */
export const firstTokenBoundsMs: readonly number[] = latencyBoundsMs.slice(0, 63);

/**
 * Publishes this dispatcher's stats. Leaves out leading and trailing zeros: every node reads the message each second, and the message of an
 * idle dispatcher then has only a few hundred bytes.
 */
export function publishIngressStats(broker: Broker, ingress: string, stats: IngressStats): void {
  const { requests, tokens, errors, faults, firstToken } = stats;
  const trimmedCounts = {
    requests: dropLeadingZeros(requests),
    tokens: dropLeadingZeros(tokens),
    errors: dropLeadingZeros(errors),
    faults: dropLeadingZeros(faults),
    firstToken: firstToken.slice(0, firstToken.findLastIndex((value) => value !== 0) + 1),
  };
  broker.publish(broker.subjects.ingressStats(ingress), JSON.stringify({ ...stats, ...trimmedCounts }));
}

function dropLeadingZeros(values: readonly number[]): readonly number[] {
  const first = values.findIndex((value) => value !== 0);
  return first === -1 ? [] : values.slice(first);
}

/**
 * Calls the listener with the stats of every dispatcher, this one included. Stats of a release that shares no version of the contract
 * with this one are skipped.
 * @returns a function that ends the calls
 */
export function onIngressStats(broker: Broker, listener: (ingress: string, stats: IngressStats) => void): () => void {
  const subscription = broker.subscribe(broker.subjects.allIngressStats, ({ subject, data }) => {
    const stats = parseJson(data, ingressStatsSchema);
    if (!stats) return;
    const { v: newest, oldest = newest } = stats;
    if (findCommonVersion(ownContract, { oldest, newest }) === undefined) return;
    listener(subject.slice(subject.lastIndexOf('.') + 1), stats);
  });
  return () => subscription.unsubscribe();
}
