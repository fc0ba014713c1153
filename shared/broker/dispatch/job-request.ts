import type { AgentTurn } from '#shared/core/agent-turn.ts';
import type { RouterError } from '#shared/core/errors.ts';
import type { Operation } from '#shared/core/operation.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import type { McpAccountLink, UnreadLists } from '../contract/job-contract.ts';
import type { LiveWorker, Placement } from './workers/live-pool.ts';

/**
 * A turn of an agent session, with the key that sent it, and the person or team that owns the key. `user` or `team` is empty if the key has
 * none.
 */
export interface RunningAgentTurn extends AgentTurn {
  key: string;
  user: string;
  team: string;
}

/** A request as the dispatcher gets it. The body is separate because it is released earlier. */
export interface JobRequest {
  requestId: string;
  operation: Operation;
  format: string;
  stream: boolean;
  class: PriorityClass;
  /**
   * The sender of the request: a key, and its owner, which is a person, a team, or the key itself. Owners and keys share the queue by
   * weights of 1 or more, default 1. A request that kills workers is refused for one owner only.
   */
  sender: {
    owner: string;
    key: string;
    ownerWeight?: number | undefined;
    /** The weight among the keys of the owner. */
    keyWeight?: number | undefined;
  };
  /** The turn of an agent session, for displays of running work, with the key that sent it. */
  turn?: RunningAgentTurn | undefined;
  trace?: TraceSpan | undefined;
  /** The client's headers for the worker. They travel with the grant, so they must be few and short. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The id of the answer, for formats whose streams carry it before a worker has begun. */
  answerId?: string | undefined;
  /** See `Grant.ownerKey`. */
  ownerKey?: string | undefined;
  /** See `Grant.connection`. */
  connection?: McpAccountLink | undefined;
  /** See `Grant.unread`. */
  unread?: UnreadLists | undefined;
  /** Whether the request's stream may continue on another worker after the loss of its worker. Default: the stream ends with an error. */
  continues?: boolean | undefined;
  /** A number of 32 bits. Requests with the same number share a prompt cache, so they are offered to the same worker while it has room. */
  affinity?: number | undefined;
  /** Maximum milliseconds that the client lets the request wait in the queue, for each wait there. */
  maxWaitMs?: number | undefined;
  /** A worker to avoid from the start, as if it had failed. */
  avoid?: Pick<LiveWorker, 'id' | 'pool'> | undefined;
  /** Returns the pools that can serve the request right now, best first. Workers to avoid count as absent. */
  place(avoid: ReadonlySet<string>): Placement[];
  /**
   * Returns why no pool can serve the request right now; undefined if the reason is unknown. Called if the request has waited too long
   * for a worker.
   */
  whyUnplaced?: (() => RouterError | undefined) | undefined;
  /** Returns the tiers that may serve the request, including those without a worker right now. Called only while it waits. */
  tiers(): readonly Tier[];
}
