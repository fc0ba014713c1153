import type { AgentTurn } from '#shared/core/agent-turn.ts';
import type { RouterError } from '#shared/core/errors.ts';
import type { Operation } from '#shared/core/operation.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import type { ServerConnection, UnreadLists } from '../contract/job-contract.ts';
import type { LiveWorker, Placement } from './workers/live-pool.ts';

/** A turn of a session, the key that it came with, and the person or the team that the key belongs to; empty where it is none. */
export interface RunningTurn extends AgentTurn {
  key: string;
  user: string;
  team: string;
}

/** What the owner of a request asks the dispatcher to get done. The body comes apart from it, because it is released earlier. */
export interface JobRequest {
  requestId: string;
  operation: Operation;
  /** The client format. */
  format: string;
  stream: boolean;
  class: PriorityClass;
  /**
   * Who sent it: a key, and the person or team that the key belongs to, or the key itself. They take turns in the queue, by weights
   * of 1 or more, default 1. A request that kills workers is refused for one owner only.
   */
  sender: {
    owner: string;
    key: string;
    ownerWeight?: number | undefined;
    /** Among the keys of the owner. */
    keyWeight?: number | undefined;
  };
  /** The turn of a coding agent's session that it is, for who shows what runs, and the key that it came with. */
  turn?: RunningTurn | undefined;
  /** The request's place in a trace, when requests are traced. */
  trace?: TraceSpan | undefined;
  /** The client's headers that are for the worker to know. They go with the grant, so they must be few and short. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The id of the answer, for formats whose streams carry it before a worker has begun. */
  answerId?: string | undefined;
  /** See `Grant.ownerKey`. */
  ownerKey?: string | undefined;
  /** See `Grant.connection`. */
  connection?: ServerConnection | undefined;
  /** See `Grant.unread`. */
  unread?: UnreadLists | undefined;
  /** Whether its stream may continue on another worker when it loses its own. Default: it ends with an error then. */
  continues?: boolean | undefined;
  /** A number of 32 bits. Requests with the same one share a prompt cache, so they are offered to the same worker if it has room. */
  affinity?: number | undefined;
  /** Milliseconds that the client lets it wait in the queue at most, each time that it waits there. */
  maxWaitMs?: number | undefined;
  /** A worker to avoid from the start, as one that failed is. */
  avoid?: Pick<LiveWorker, 'id' | 'pool'> | undefined;
  /** The pools that can serve it right now, best first. Workers to avoid count as absent. */
  place(avoid: ReadonlySet<string>): Placement[];
  /** Why no pool can serve it right now; undefined where that is not known. Called when it has waited too long for a worker. */
  whyUnplaced?: (() => RouterError | undefined) | undefined;
  /** The tiers that may serve it, those too that have no worker right now. Called only while it waits. */
  tiers(): readonly Tier[];
}
