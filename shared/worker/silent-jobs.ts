import { RouterError } from '#shared/core/errors.ts';

/** A job from its grant to its end. */
export interface WatchedJob {
  readonly stream: boolean;
  readonly startedAt: number;
  /** The number of `markRunning` calls before the job began. */
  readonly marksBefore: number;
  /** Aborts the job's handler, because the job is given up or cancelled. */
  readonly controller: AbortController;
  hasOutput: boolean;
}

/** Milliseconds without output after which streams are stuck, if the upstream has not answered any stream yet. */
const defaultStuckMs = 30_000;
/** Minimum milliseconds without output after which streams are stuck, once the upstream has answered a stream. */
const minStuckMs = 5_000;

/** The multiple of the usual time to a first output after which streams are stuck. */
const stuckFactor = 10;

/** The factor by which the usual time shrinks with each first output, so that one slow answer does not count for ever. */
const usualMsDecay = 0.9;

/** A stream is given up when the upstream has been unhealthy, and the stream without output, for this many milliseconds. */
const giveUpMs = 10_000;

/**
 * Detects an upstream that takes jobs and answers none of them. The sign is that several streams wait for their first output much longer
 * than usual, while no other job has output either. Answers that are not streamed may take long and prove nothing.
 */
export class SilentJobs {
  readonly #running = new Set<WatchedJob>();
  #marks = 0;
  #hasNewOutput = false;
  #lastOutputAt = 0;
  #unhealthySince: number | undefined;
  /** The usual time to a first output, in milliseconds. */
  #usualMs: number | undefined;
  #olderCount = 0;

  /** The number of running jobs that began before the last `markRunning`. */
  get olderCount(): number {
    return this.#olderCount;
  }

  /** Whether a job began before the last `markRunning`. */
  isOlder({ marksBefore: marks }: WatchedJob): boolean {
    return marks < this.#marks;
  }

  begin(stream: boolean): WatchedJob {
    const startedAt = performance.now();
    const job = { stream, startedAt, marksBefore: this.#marks, controller: new AbortController(), hasOutput: false };
    this.#running.add(job);
    return job;
  }

  /** Records output of a job. Returns whether it is the first output of the job. */
  recordOutput(job: WatchedJob): boolean {
    this.#hasNewOutput = true;
    if (job.hasOutput) return false;
    job.hasOutput = true;
    if (job.stream) this.#usualMs = Math.max(performance.now() - job.startedAt, (this.#usualMs ?? 0) * usualMsDecay);
    return true;
  }

  end(job: WatchedJob): void {
    this.#running.delete(job);
    if (this.isOlder(job)) this.#olderCount -= 1;
  }

  /** Marks the jobs that are running as older than the jobs that begin from now on. */
  markRunning(): void {
    this.#marks += 1;
    this.#olderCount = this.#running.size;
  }

  /**
   * Finds stuck streams, and gives up streams without output once the upstream has been unhealthy for `giveUpMs`. Call it at short
   * intervals.
   * @param now time of `performance.now()`
   * @param minStuck the number of stuck streams that proves that the upstream is stuck
   * @returns whether the upstream is stuck, and whether a stream that began after the last `markRunning` is stuck
   */
  checkStuckStreams(now: number, isHealthy: boolean, minStuck: number): { isStuck: boolean; hasStuckProbe: boolean } {
    if (this.#hasNewOutput) this.#lastOutputAt = now;
    this.#hasNewOutput = false;
    this.#unhealthySince = isHealthy ? undefined : (this.#unhealthySince ?? now);
    const stuckMs = this.#usualMs === undefined ? defaultStuckMs : Math.max(minStuckMs, this.#usualMs * stuckFactor);
    const silentMs = now - this.#lastOutputAt;
    const isLost = this.#unhealthySince !== undefined && Math.min(now - this.#unhealthySince, silentMs) >= giveUpMs;
    let stuckCount = 0;
    let hasStuckProbe = false;
    for (const job of this.#running) {
      if (!job.stream || job.hasOutput) continue;
      const waitedMs = Math.min(now - job.startedAt, silentMs);
      if (isLost && waitedMs >= giveUpMs) job.controller.abort(createNoAnswerError());
      if (waitedMs < stuckMs) continue;
      stuckCount += 1;
      if (!this.isOlder(job)) hasStuckProbe = true;
    }
    return { isStuck: stuckCount >= minStuck, hasStuckProbe };
  }
}

function createNoAnswerError(): RouterError {
  return new RouterError('upstream_timeout', 'The upstream is unhealthy and gave no answer.');
}
