import { RouterError } from '#shared/core/errors.ts';

/** A job from its grant to its end. */
export interface WatchedJob {
  readonly stream: boolean;
  readonly startedAt: number;
  /** The number of `mark` calls before it. */
  readonly marks: number;
  /** Aborted when the job is given up, or ends for another reason. */
  readonly givenUp: AbortController;
  hasOutput: boolean;
}

/** Milliseconds without output after which streams are stuck if the upstream has answered none yet. */
const unknownMs = 30_000;
/** Minimum of that time once the upstream has answered a stream. */
const minMs = 5_000;

/** The multiple of the usual time to a first output after which streams are stuck. */
const factor = 10;

/** The share of the usual time that remains with each first output, so that one slow answer does not count for ever. */
const decay = 0.9;

/** Milliseconds for which the upstream is unhealthy, and a stream without output waits, until the stream is given up. */
const illMs = 10_000;

/**
 * Detects an upstream that takes jobs and answers none. Then several streams wait for their first output much longer than usual, and no
 * other job has output either. Answers that are not streamed may take long and prove nothing.
 */
export class SilentJobs {
  readonly #running = new Set<WatchedJob>();
  #marks = 0;
  #hasSpoken = false;
  #spokeAt = 0;
  #illSince: number | undefined;
  /** The usual time to a first output, in milliseconds. */
  #usualMs: number | undefined;
  #older = 0;

  /** The number of running jobs from before the last `mark`. */
  get older(): number {
    return this.#older;
  }

  isOlder({ marks }: WatchedJob): boolean {
    return marks < this.#marks;
  }

  begin(stream: boolean): WatchedJob {
    const startedAt = performance.now();
    const job = { stream, startedAt, marks: this.#marks, givenUp: new AbortController(), hasOutput: false };
    this.#running.add(job);
    return job;
  }

  /** Records output of a job. Returns whether it is the job's first. */
  recordOutput(job: WatchedJob): boolean {
    this.#hasSpoken = true;
    if (job.hasOutput) return false;
    job.hasOutput = true;
    if (job.stream) this.#usualMs = Math.max(performance.now() - job.startedAt, (this.#usualMs ?? 0) * decay);
    return true;
  }

  end(job: WatchedJob): void {
    this.#running.delete(job);
    if (this.isOlder(job)) this.#older -= 1;
  }

  mark(): void {
    this.#marks += 1;
    this.#older = this.#running.size;
  }

  /**
   * Finds stuck streams, and gives up streams without output once the upstream has been unhealthy for `illMs`. Call it at short intervals.
   * @param minStuck how many stuck streams prove that the upstream is stuck
   */
  checkStuckStreams(now: number, isHealthy: boolean, minStuck: number): { isStuck: boolean; hasStuckProbe: boolean } {
    if (this.#hasSpoken) this.#spokeAt = now;
    this.#hasSpoken = false;
    this.#illSince = isHealthy ? undefined : (this.#illSince ?? now);
    const stuckMs = this.#usualMs === undefined ? unknownMs : Math.max(minMs, this.#usualMs * factor);
    const silentMs = now - this.#spokeAt;
    const isLost = this.#illSince !== undefined && Math.min(now - this.#illSince, silentMs) >= illMs;
    let stuck = 0;
    let hasStuckProbe = false;
    for (const job of this.#running) {
      if (!job.stream || job.hasOutput) continue;
      const waitedMs = Math.min(now - job.startedAt, silentMs);
      if (isLost && waitedMs >= illMs) job.givenUp.abort(noAnswer());
      if (waitedMs < stuckMs) continue;
      stuck += 1;
      if (!this.isOlder(job)) hasStuckProbe = true;
    }
    return { isStuck: stuck >= minStuck, hasStuckProbe };
  }
}

function noAnswer(): RouterError {
  return new RouterError('upstream_timeout', 'The upstream is ill and gave no answer.');
}
