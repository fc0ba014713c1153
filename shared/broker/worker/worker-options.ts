import type { Logger } from '#shared/core/log.ts';
import type { Tracing } from '#shared/core/tracing/tracing.ts';
import type { ModelInfo, ToolInfo } from '../contract/announcement.ts';
import type { Broker } from '../connection/connect-broker.ts';
import type { ContractRange } from '../contract/contract-range.ts';
import type { JobHandler } from '../contract/job-contract.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { MemoryBudget } from '#shared/core/memory-budget.ts';
import type { FrameMemory } from './frame-memory.ts';
import type { WorkerMeter } from './worker-meter.ts';

/** The parts of an announcement that a worker may change while it runs. */
export interface WorkerFacts {
  models: ModelInfo[];
  tools?: ToolInfo[];
  slots: number;
  /** Whether the worker takes jobs. */
  accepting: boolean;
  /** The reason why the worker takes no jobs, or fewer than usual, see `Announcement`. */
  reason?: string | undefined;
  /** When the worker takes jobs again, in milliseconds since 1970; undefined if that is unknown. The worker may take jobs earlier. */
  resumesAt?: number | undefined;
}

export interface WorkerOptions extends WorkerFacts {
  broker: Broker;
  log: Logger;
  /** The worker's name, of letters, digits, `_` and `-`. It must be unique among the workers of its credential. */
  id: string;
  tier: Tier;
  /** The kind of upstream, such as `vllm`. Workers of one kind with the same models and tools are interchangeable. */
  kind: string;
  /** Client formats in which the handler answers. */
  formats: readonly string[];
  version: string;
  handler: JobHandler;
  /** Milliseconds of the coalescing window, within which pieces of a stream are sent together; 0 sends each piece by itself. */
  coalesceMs: number;
  meter: WorkerMeter;
  tracing?: Tracing | undefined;
  /** The memory for sent frames. Default: a memory of its own. */
  memory?: FrameMemory;
  /** The memory budget for bodies of jobs. Default: no limit. */
  bodies?: MemoryBudget;
  /** Milliseconds for which jobs continue while the broker or their dispatcher is out of reach. Default: a minute. */
  outOfReachMs?: number;
  /** The versions of the contract that the worker speaks. Default: the versions of this release. */
  contract?: ContractRange;
}
