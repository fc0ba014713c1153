import type { AgentTurn } from '#shared/core/agent-turn.ts';
import type { RouterError } from '#shared/core/errors.ts';
import type { Operation } from '#shared/core/operation.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import type { McpAccountLink, UnreadLists } from '../contract/job-contract.ts';
import type { Placement } from './workers/live-pool.ts';
import type { LiveWorker } from './workers/live-worker.ts';

/**
 * A turn of an agent session, with the key that sent it, and the person or team that owns the key. `user` is empty if no person owns the
 * key; `team` is empty if no team does.
 */
export interface RunningAgentTurn extends AgentTurn {
  key: string;
  user: string;
  team: string;
}

/** A request as the dispatcher gets it. It does not contain the body, because the body is released earlier. */
export interface JobRequest {
  requestId: string;
  operation: Operation;
  format: string;
  stream: boolean;
  class: PriorityClass;
  /**
   * The sender of the request: a key, and its owner, which is a person, a team, or the key itself. Owners share the queue by their weights,
   * and so do the keys of an owner. A weight is 1 or more; default: 1. A request that kills workers is refused only for its owner.
   */
  sender: {
    owner: string;
    key: string;
    ownerWeight?: number | undefined;
    /** The weight among the keys of the owner. */
    keyWeight?: number | undefined;
  };
  /** The turn of an agent session to which the request belongs. It is shown while the job runs. */
  turn?: RunningAgentTurn | undefined;
  trace?: TraceSpan | undefined;
  /** The client's headers that the worker needs. They are sent with the grant, so they must be few and short. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The id that the answer must have, for formats whose streams contain the id before a worker has begun. */
  answerId?: string | undefined;
  /** See `Grant.ownerKey`. */
  ownerKey?: string | undefined;
  /** See `Grant.ownerMark`. */
  ownerMark?: string | undefined;
  /** See `Grant.connection`. */
  connection?: McpAccountLink | undefined;
  /** See `Grant.unread`. */
  unread?: UnreadLists | undefined;
  /** Whether the request's stream may continue on another worker after the loss of its worker. Default: the stream ends with an error. */
  mayContinue?: boolean | undefined;
  /**
   * A number of 32 bits. Requests with the same number share a prompt cache. They are offered to the same worker while that worker has
   * room.
   */
  affinity?: number | undefined;
  /** Maximum milliseconds of each wait in the queue, if the client sets a limit. */
  maxWaitMs?: number | undefined;
  /** A worker to avoid from the start, as if it had failed. */
  avoid?: Pick<LiveWorker, 'id' | 'pool'> | undefined;
  /**
   * Returns the placements that can serve the request right now, best first.
   * @param avoid the ids of workers that count as absent
   */
  findPlacements(avoid: ReadonlySet<string>): Placement[];
  /**
   * Returns the reason why no pool can serve the request right now; undefined if it is unknown. Called when the request has waited too long
   * for a worker.
   */
  explainUnplaced?: (() => RouterError | undefined) | undefined;
  /** Returns the tiers that may serve the request, including tiers without a worker right now. Called only while the request waits. */
  tiers(): readonly Tier[];
}
