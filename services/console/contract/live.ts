import { z } from 'zod';
import type { Capability } from '#shared/broker/contract/announcement.ts';
import { modelOperations } from '#shared/core/operation.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { time } from './conventions.ts';

/*
 * The contract between the console's pages and its API: the running cluster. The rules of `conventions.ts` apply.
 *
 * `GET /live` is a stream of server-sent events, `event: overview|workers|queue|failures|refused`. Each event contains the whole state of
 * its kind. The events are sent at once, and again after changes, at most once a second. A page that requests `GET /live?changes` gets only
 * the changed workers after its first `event: workers`, as `event: workers-changed` with a WorkersChange.
 */

/** The cluster in the last minute, second by second, over all ingress nodes. */
export interface Overview {
  /** Values of the last 60 seconds, oldest first. */
  requestsPerSecond: number[];
  tokensPerSecond: number[];
  errorsPerSecond: number[];
  /** Milliseconds, over the last minute; absent if there were no requests. */
  firstTokenMs?: { p50: number; p95: number };
  activeStreams: number;
  /** Requests served in the last hour. */
  servedByTier: Partial<Record<Tier, number>>;
  /** The number of waiting requests. A request that waits for several tiers counts once. */
  waiting: number;
  /**
   * The number of waiting requests by each tier that may serve them, with or without workers. A request that waits for two tiers counts in
   * both.
   */
  queuedByTier: Partial<Record<Tier, number>>;
}

/**
 * A failed request with its time, its code of the error table, and its worker. Never contains an upstream's message, which may quote the
 * prompt. `event: failures` contains the last 50 failures, newest first. An administrator gets the failures of everybody. A member gets the
 * failures of requests with their personal keys and from their own pages. The failures of requests with team keys are in the
 * team's usage.
 */
export interface Failure {
  at: number;
  requestId: string;
  code: string;
  model?: string | undefined;
  tier?: Tier | undefined;
  worker?: string | undefined;
}

const workerStates = ['serving', 'full', 'paused', 'failing', 'draining', 'ejected', 'incompatible'] as const;

/**
 * The number of requests in the last minute and hour that were refused before a worker got them, by code of the error table.
 * `event: refused` contains all codes of the last hour for administrators, and none for members.
 */
export interface RefusalCounts {
  code: string;
  minute: number;
  hour: number;
}

/**
 * `incompatible`: the worker and the ingress share no version of the broker contract. `failing`: the worker takes no jobs, or one at a
 * time, because its upstream fails. `ejected`: the worker takes jobs, but the ingress gives it none, because its jobs fail or are slow
 * while the jobs of its peers do not.
 */
export type WorkerState = (typeof workerStates)[number];

export const workerSchema = z
  .object({
    id: z.string(),
    tier: z.enum(tiers),
    pool: z.string(),
    models: z.array(z.string()),
    tools: z.array(z.string()),
    slots: z.number(),
    busy: z.number(),
    state: z.enum(workerStates),
    reason: z
      .string()
      .exactOptional()
      .describe(
        'Why the worker takes no jobs or few jobs, for example `failing: upstream_failed`; or why it is ejected: `slow`, or the error code that its jobs ended with.',
      ),
    missedHeartbeats: z
      .number()
      .describe(
        'The number of heartbeats, one a second, that have not arrived. After three the worker counts as lost.',
      ),
    safeToStop: z
      .literal(true)
      .exactOptional()
      .describe('The worker was drained or is being stopped, and has no job left. Its machine can be stopped.'),
    lastFor: z
      .array(z.string())
      .exactOptional()
      .describe('The models and tools that no other worker takes requests for now.'),
    startedAt: time,
    joinedAt: time.describe(
      'The time, in milliseconds since 1970, at which this ingress first saw the worker, or saw it again after it was lost.',
    ),
    ejection: z
      .object({ model: z.string(), reason: z.string(), at: time, endedAt: time.exactOptional() })
      .exactOptional()
      .describe(
        'The last ejection since the worker joined, with its model or tool and its reason. `endedAt` is absent while it lasts.',
      ),
    version: z.string(),
    host: z.string().exactOptional(),
  })
  .meta({ id: 'Worker' });

export const goneWorkerSchema = z
  .object({
    id: z.string(),
    tier: z.enum(tiers),
    pool: z.string(),
    host: z.string().exactOptional(),
    version: z.string(),
    serves: z.array(z.string()).describe('The first ten names of its models and tools.'),
    servedNames: z.number().describe('The number of its models and tools.'),
    startedAt: time,
    joinedAt: time.describe('The time, in milliseconds since 1970, at which this ingress first saw the worker.'),
    goneAt: time,
    why: z
      .enum(['drained', 'left', 'restarted', 'lost'])
      .describe(
        '`drained`: the worker left after a drain, when its last job had ended; `left`: it left before that; `restarted`: another process has taken its place; `lost`: no heartbeat came for 3.3 seconds.',
      ),
    jobs: z
      .number()
      .describe('The number of jobs that it had when it was gone. Where possible, other workers got them.'),
    state: z.enum(workerStates).describe('Its last state.'),
    reason: z.string().exactOptional().describe('Why it took no jobs or few jobs at the end.'),
    isBack: z.literal(true).exactOptional().describe('A worker with this id is connected again.'),
  })
  .meta({ id: 'GoneWorker' });

/**
 * `GET /workers/gone`: the workers that left or were lost within a day, newest first. Contains at most 1,000 entries, and at most the last
 * five of a worker that was gone several times. Each ingress answers what it has seen since its start.
 */
export type GoneWorker = z.output<typeof goneWorkerSchema>;

/**
 * `GET /workers`: the workers that are connected. `POST /workers/<id>/drain` (admins): the worker finishes its jobs and takes no new jobs
 * until `POST /workers/<id>/undrain` or its next start. Both answer the worker's new state, a LiveWorkerFacts. After a drain, its `lastFor`
 * names the models and tools that nobody serves without this worker.
 */
export type LiveWorkerFacts = z.output<typeof workerSchema>;

/** The waiting requests of one lane or, if no lane can serve them now, of one tier and class. */
export interface QueuedLane {
  tier: Tier;
  /** Absent for requests that no worker of the tier can serve right now. */
  pool?: string;
  class: PriorityClass;
  waiting: number;
}

/** The changes since the workers of the previous event: the new and changed workers, and the ids of the workers that have gone. */
export interface WorkersChange {
  changed: LiveWorkerFacts[];
  gone: string[];
}

export const servedModelSchema = z
  .object({
    id: z.string(),
    kind: z.enum(['auto', 'model', 'registered']),
    operations: z.array(z.enum(modelOperations)).describe('The operations that the model can be asked for.'),
    capabilities: z.array(z.custom<Capability>().meta({ type: 'string' })),
    contextWindow: z.number().exactOptional(),
    maxOutput: z.number().exactOptional(),
    servedBy: z.array(
      z.object({
        tier: z.enum(tiers),
        workers: z.number(),
        models: z.array(z.string()),
        price: z
          .object({ input: z.number(), output: z.number() })
          .exactOptional()
          .describe(
            'US dollars per million tokens. Absent if the tier serves several models, or its model has no price.',
          ),
        unpriced: z
          .array(z.string())
          .exactOptional()
          .describe(
            'The models without a price, for which no cost is counted. Present only for the tiers `cloud` and `cli`.',
          ),
        speed: z
          .object({
            firstTokenMs: z.number().describe('Milliseconds from the arrival of the request to the first token.'),
            tokensPerSecond: z.number(),
            answers: z.number().describe('The number of answers that were measured.'),
          })
          .exactOptional()
          .describe(
            'Medians of the last 50 streamed answers within an hour, measured by this ingress. Absent if the tier serves several models.',
          ),
      }),
    ),
    notPermitted: z
      .literal(true)
      .exactOptional()
      .describe("The person's ceiling forbids the model. A key of one of their teams may still permit it."),
  })
  .meta({ id: 'ServedModel' });

/** `GET /models`: the models that clients can request. */
export type ServedModel = z.output<typeof servedModelSchema>;

/** `GET /about`: the router's release, the client formats that it serves, and what this ingress can do. */
export interface RouterFacts {
  version: string;
  /** Each format with its name and its base path, for example `/api/openai`. */
  formats: { name: string; path: string }[];
  /** Whether administrators make credentials for workers here, see `credentials.ts`. */
  managesCredentials: boolean;
  /** Whether workers need a credential. True if this ingress itself has signed in to NATS with one. */
  needsCredentials: boolean;
  /** Whether the documentation is built, and served under `/docs`. */
  hasDocs: boolean;
  /** Whether recording can be switched on for keys and teams. */
  records: boolean;
  /** Whether the messages of recorded requests are also sent to a collector of traces. */
  tracesRecordings: boolean;
}
