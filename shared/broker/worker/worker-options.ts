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

/** What of an announcement a worker may change while it runs. */
export interface WorkerFacts {
  models: ModelInfo[];
  tools?: ToolInfo[];
  /** Jobs it serves at once. */
  slots: number;
  /** Whether it takes jobs right now. */
  accepting: boolean;
  /** Why it takes none, or few, see `Announcement`. */
  reason?: string | undefined;
  /** When it takes jobs again, in ms since 1970, where it takes none and knows. It may try before that. */
  resumesAt?: number | undefined;
}

export interface WorkerOptions extends WorkerFacts {
  broker: Broker;
  log: Logger;
  /** The worker's name: letters, digits, `_`, `-`; unique among those of its credential. */
  id: string;
  tier: Tier;
  /** The kind of upstream, as `vllm`: workers of one kind with the same models and tools are interchangeable. */
  kind: string;
  /** Client formats that the handler answers in. */
  formats: readonly string[];
  version: string;
  handler: JobHandler;
  /** Length of the window in which pieces of a stream travel together, in milliseconds. 0: each by itself. */
  coalesceMs: number;
  meter: WorkerMeter;
  /** Traces, when jobs are traced. */
  tracing?: Tracing | undefined;
  /** Where sent frames are kept. Default: a memory of its own. */
  memory?: FrameMemory;
  /** The room for bodies of jobs. Default: without a bound. */
  bodies?: MemoryBudget;
  /** Milliseconds that jobs go on while the broker or their ingress cannot be reached. Default: a minute. */
  outOfReachMs?: number;
  /** Versions of the contract that it speaks. Default: those of this release. */
  contract?: ContractRange;
}
