import type { ErrorCode, RouterError } from '#shared/core/errors.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import type { JobEnd, Operation } from '../contract/job-contract.ts';
import type { PriorityClass, Tier } from '../contract/lane.ts';
import { JobTrace } from './job-trace.ts';
import type { LivePool, LiveWorker } from './workers/live-pool.ts';

/**
 * A job's life, as its ingress sees it:
 *
 * ```
 * queued ──claim──▶ claimed ──output──▶ streaming ──end──▶ done
 *   ▲      offer      │ └─────────────end────────────────▶ done
 *   └──lose, refuse───┘        any of the three ──fail──▶ failed, ──cancel──▶ cancelled
 * ```
 *
 * A worker that is known to wait is offered the job, else its tickets find one that claims it.
 * `streaming` means that the client has seen a part of the answer: from there a job cannot be moved any more.
 */
export type JobState = 'queued' | 'claimed' | 'streaming' | 'done' | 'failed' | 'cancelled';
export type JobEvent = 'claim' | 'offer' | 'refuse' | 'output' | 'lose' | 'end' | 'fail' | 'cancel';

const transitions: Record<JobState, Partial<Record<JobEvent, JobState>>> = {
  queued: { claim: 'claimed', offer: 'claimed', fail: 'failed', cancel: 'cancelled' },
  claimed: {
    output: 'streaming',
    lose: 'queued',
    refuse: 'queued',
    end: 'done',
    fail: 'failed',
    cancel: 'cancelled',
  },
  streaming: { end: 'done', fail: 'failed', cancel: 'cancelled' },
  done: {},
  failed: {},
  cancelled: {},
};

/** The state after an event. Throws on an event that the state does not know: that is a bug, not bad luck. */
export function nextState(state: JobState, event: JobEvent): JobState {
  const next = transitions[state][event];
  if (next === undefined) throw new Error(`a ${state} job cannot ${event}`);
  return next;
}

/** A pool that can serve a job, and the model it would serve it with. */
export interface Placement {
  pool: LivePool;
  model: string;
  /** Milliseconds that a job waits for this tier before it may go to the next one, even when that one is free. */
  patienceMs?: number | undefined;
}

/** What the edge asks the dispatcher to get done, all but the body: that is let go of earlier. */
export interface JobRequest {
  requestId: string;
  operation: Operation;
  format: string;
  stream: boolean;
  class: PriorityClass;
  /** The request's place in a trace, when requests are traced. */
  trace?: TraceSpan | undefined;
  /** The client's headers that are for the worker to know. They go with the grant, so they must be few and short. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The pools that can serve it right now, best first. Workers to avoid count as absent. */
  place(avoid: ReadonlySet<string>): Placement[];
  /** The tiers that may serve it, those too that have no worker right now. Asked only while it waits. */
  tiers(): readonly Tier[];
}

/** Where a job's answer goes. One of `end` and `fail` is called, once, unless the job is cancelled before. */
export interface JobSink {
  /** Called once, before the first bytes of the answer: it is decided who serves the job. */
  begin(job: Job): void;
  /** A piece of a streamed answer, ready for the client's socket. */
  data(bytes: Uint8Array): void;
  /** The client of a stream has heard nothing for a while. */
  keepAlive(): void;
  /** The last bytes of a streamed answer, or the whole of one that is not streamed. */
  end(bytes: Uint8Array): void;
  fail(error: RouterError): void;
}

/** How a job went. Times are milliseconds of `performance.now()`. */
export interface JobReport {
  state: JobState;
  attempts: number;
  /** Why it was taken from a worker and given to another one, each time. */
  moves: readonly ErrorCode[];
  queuedAt: number;
  claimedAt: number | undefined;
  firstByteAt: number | undefined;
  endedAt: number;
  served: Served | undefined;
  end: JobEnd | undefined;
  error: RouterError | undefined;
}

/** Who serves a job. */
export interface Served {
  worker: LiveWorker;
  placement: Placement;
  /** What only this worker knows, and its frames come under. */
  grant: string;
  /** Whether the job was offered: until the worker is heard of it, it may be refused. */
  offered: boolean;
}

const none: readonly ErrorCode[] = [];

/** No worker is to be avoided. */
export const nobody: ReadonlySet<string> = new Set();

/** One request on its way through the cluster. Fields change only in the dispatcher. */
export class Job {
  readonly id: string;
  readonly request: JobRequest;
  readonly sink: JobSink;
  readonly finished: Promise<JobReport>;
  readonly trace: JobTrace | undefined;
  readonly queuedAt = performance.now();
  /** Workers that failed on this job. */
  avoid = nobody;
  /** Pools that a ticket was published to, with the model each would serve. */
  readonly placed = new Map<LivePool, PlacedTicket>();
  /** Tickets published for it so far. */
  tickets = 0;
  /** Whether the broker has taken a ticket of it once. From then on it waits, also when the queue is full. */
  admitted = false;
  /** Kept until the client has seen something of the answer: until then another worker may need it. */
  body: Buffer | undefined;
  state: JobState = 'queued';
  attempt = 0;
  moves = none;
  served: Served | undefined;
  nextSeq = 0;
  /** How often a worker that it was offered to did not take it. */
  refusals = 0;
  /** Whether its worker was heard of it. */
  heard = false;
  /** Parts of an answer that is not streamed. */
  parts: Uint8Array[] = [];
  partsBytes = 0;
  claimedAt: number | undefined;
  firstByteAt: number | undefined;
  lastFrameAt = 0;
  lastDataAt = 0;
  /** When its worker was last asked for frames that are missing, or for a sign of life. */
  askedAt = 0;
  /** When the client last got anything, keep-alives included. */
  lastWriteAt = this.queuedAt;
  /** Since when the job waits in the queue for this attempt. */
  waitingSince = this.queuedAt;
  /** Since when no live worker could serve it. */
  noWorkerSince: number | undefined;
  /** When a ticket goes to the next lane too. */
  spillAt = Number.POSITIVE_INFINITY;
  #tiers: readonly Tier[] | undefined;
  readonly #finish: (report: JobReport) => void;

  constructor(id: string, request: JobRequest, body: Buffer, sink: JobSink) {
    this.id = id;
    this.request = request;
    this.body = body;
    this.sink = sink;
    this.trace = request.trace && new JobTrace(request.trace);
    const { promise, resolve } = Promise.withResolvers<JobReport>();
    this.finished = promise;
    this.#finish = resolve;
  }

  get isOver(): boolean {
    return this.state === 'done' || this.state === 'failed' || this.state === 'cancelled';
  }

  /** The tiers that may serve it, those too that have no worker right now. Settled when it is first asked for. */
  get tiers(): readonly Tier[] {
    this.#tiers ??= this.request.tiers();
    return this.#tiers;
  }

  on(event: JobEvent): void {
    this.state = nextState(this.state, event);
  }

  /** A worker has it from now on. */
  give(served: Served): void {
    const now = performance.now();
    this.attempt += 1;
    this.nextSeq = 0;
    this.heard = false;
    this.served = served;
    this.claimedAt = now;
    this.lastFrameAt = now;
    this.lastDataAt = now;
  }

  /** Its worker does not have it any more, and nothing that came from there counts. */
  takeBack(): void {
    this.served = undefined;
    this.claimedAt = undefined;
    this.parts = [];
    this.partsBytes = 0;
  }

  /** Tells whoever waits for the job how it went. */
  report(end: JobEnd | undefined, error: RouterError | undefined): void {
    const { state, attempt: attempts, moves, queuedAt, claimedAt, firstByteAt, served } = this;
    this.#finish({
      state,
      attempts,
      moves,
      queuedAt,
      claimedAt,
      firstByteAt,
      served,
      end,
      error,
      endedAt: performance.now(),
    });
  }
}

/** A ticket that stands for a job in one pool's lane. */
export interface PlacedTicket {
  model: string;
  /** Counts the job's tickets, so that the broker's answers can be told apart. */
  number: number;
  publishedAt: number;
  /** What the broker has said to the ticket. */
  answer: 'none' | 'stored' | 'full';
}
