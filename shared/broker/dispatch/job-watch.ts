import type { RouterError } from '#shared/core/errors.ts';
import type { ShortLivedMap } from '../short-lived-map.ts';
import type { Broker } from '../connection/connect-broker.ts';
import { exceededBound, type Bounds } from './exceeded-bound.ts';
import type { Job } from './job.ts';

/** Milliseconds between two looks at all jobs. */
const sweepMs = 100;

/**
 * Milliseconds without a frame after which a worker is asked for a sign of life. Workers in work give one every three
 * seconds; one that does not know the job, because its grant was lost, says so.
 */
const askAfterMs = 4_000;

/** Milliseconds in which the worker that a job was offered to has to be heard of it, if only by a sign of life. */
const offerHeardMs = 1_500;

/** Milliseconds between two looks at all jobs after which this process must have stood still itself. */
const stoodStillMs = 1_000;

export interface JobWatchOptions {
  broker: Broker;
  /** All jobs of this ingress by id. */
  jobs: ShortLivedMap<Job>;
  bounds: Bounds;
  /** Milliseconds without a byte after which the client of a stream gets a keep-alive. */
  keepAliveMs: number;
  /** The worker of a job fell silent. */
  onLost: (job: Job) => void;
  /** A job has waited for something for longer than it may. */
  onExceeded: (job: Job, error: RouterError) => void;
  /** Nothing was heard of a job since it was offered to a worker. */
  onUnheard: (job: Job) => void;
  /** Nothing was heard of a job in work for a while, and the broker is there. */
  onQuiet: (job: Job, now: number) => void;
  /** A job waits in the queue, and the broker is there. Called at every look. */
  onWaiting: (job: Job, now: number) => void;
}

/** Looks at all jobs ten times a second: at the bounds of what they wait for, and at who should hear something. */
export class JobWatch {
  readonly #options: JobWatchOptions;
  readonly #timer: NodeJS.Timeout;
  #lastSweep = performance.now();

  constructor(options: JobWatchOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#sweep(), sweepMs);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  /** Begins to count anew how long each job has been silent: nothing could be heard, so that says nothing about the worker. */
  forgiveSilence(): void {
    const now = performance.now();
    for (const job of this.#options.jobs.values()) job.lastFrameAt = now;
  }

  #sweep(): void {
    const now = performance.now();
    const { broker, jobs, bounds, onLost, onExceeded } = this.#options;
    if (now - this.#lastSweep > stoodStillMs) this.forgiveSilence();
    this.#lastSweep = now;
    for (const job of jobs.values()) {
      const exceeded = exceededBound(job, bounds, now, broker.disconnectedSince);
      if (exceeded === 'lost') onLost(job);
      else if (exceeded) onExceeded(job, exceeded);
      else this.#attend(job, now);
    }
  }

  #attend(job: Job, now: number): void {
    const { broker, keepAliveMs, onUnheard, onQuiet, onWaiting } = this.#options;
    if (job.request.stream && now - job.lastWriteAt > keepAliveMs) {
      job.lastWriteAt = now;
      job.sink.keepAlive();
    }
    if (!broker.connected) return;
    const quietMs = now - job.lastFrameAt;
    if (job.state === 'queued') onWaiting(job, now);
    else if (job.served?.offered && !job.heard && quietMs > offerHeardMs) onUnheard(job);
    else if (quietMs > askAfterMs) onQuiet(job, now);
  }
}
