import type { GrantedJob, JobHandler, Reply } from '#shared/broker/contract/job-contract.ts';
import type { WorkerFacts } from '#shared/broker/worker/worker-options.ts';
import { RouterError, type ErrorCode } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { SilentJobs, type WatchedJob } from './silent-jobs.ts';

export interface CircuitBreakerOptions {
  log: Logger;
  /** Called when the result of `restrict` changes. */
  onChange: () => void;
}

/** Failures in a row after which the worker stops taking jobs. */
export const maxFailures = 3;

/** Milliseconds without jobs after failures. They double each further time in a row, and vary by a quarter. */
const firstOpenMs = 1000;
/** Maximum milliseconds without jobs after failures. */
const maxOpenMs = 8000;

/** Maximum milliseconds of a pause; then the upstream is tried again, even if it requested a longer one. */
const maxPauseMs = 60_000;

/** Milliseconds of a pause for which the upstream gives no time. They double with each further refusal in a row. */
const firstPauseMs = 1000;
/** Maximum milliseconds of a pause for which the upstream gives no time. */
const maxDefaultPauseMs = 30_000;

/** The reason if no connection could be made. A successful health check is then enough to take jobs again. */
const unreachable = 'unreachable';

/** Milliseconds between two checks for jobs without output. */
const tickMs = 500;

/**
 * The circuit breaker of a worker. It limits the work that the worker takes, by the outcomes of its jobs. Three conditions limit it:
 *
 * - failures: after `maxFailures` without a success in between, or one refused connection, the worker takes no jobs for a while, then one
 *   at a time, until one is answered;
 * - a temporary refusal (a rate limit, an overload): no jobs until the pause ends, whose length the upstream may give;
 * - an unhealthy upstream, which the worker detects by itself: no jobs until it is healthy.
 *
 * States for failures: closed (takes jobs) → open → half-open → closed; half-open → open. An answer closes it in every state.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  readonly #silent = new SilentJobs();
  readonly #ticks: NodeJS.Timeout;
  #state: 'closed' | 'open' | 'half-open' = 'closed';
  #reason = '';
  #failures = 0;
  /** How many times it opened since the last success. */
  #openings = 0;
  #probeTimer: NodeJS.Timeout | undefined;
  #pausedUntil = 0;
  /** When the upstream is expected to take work again, in milliseconds since 1970: the end of the pause, or later. */
  #resumesAt = 0;
  #pauseReason = '';
  #refusals = 0;
  #pauseTimer: NodeJS.Timeout | undefined;
  #isHealthy = true;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
    this.#ticks = setInterval(() => this.#tick(), tickMs);
  }

  /** Returns the facts to announce, if necessary with fewer slots, or without accepting jobs, and with the reason. */
  restrict(facts: WorkerFacts): WorkerFacts {
    const { accepting } = facts;
    if (!this.#isHealthy) return { ...facts, accepting: false, reason: 'unhealthy' };
    if (this.#pauseTimer) return { ...facts, accepting: false, reason: this.#pauseReason, resumesAt: this.#resumesAt };
    if (this.#state === 'open') return { ...facts, accepting: false, reason: this.#reason };
    if (this.#state === 'closed' || !accepting) return facts;
    // Jobs from before the probe keep their slots.
    return { ...facts, slots: Math.min(facts.slots, this.#silent.older + 1), reason: this.#reason };
  }

  /** Wraps a handler; the outcomes of its jobs control the circuit breaker. */
  watch(handler: JobHandler): JobHandler {
    return async (job, reply, signal) => {
      const run = this.#silent.begin(job.stream);
      const write = (piece: string | Uint8Array): void => {
        if (this.#silent.recordOutput(run)) this.#answered(job);
        reply.write(piece);
      };
      const head: Reply['head'] = (headers) => reply.head(headers);
      const room = (): Promise<void> | undefined => reply.room?.();
      // A composed signal would cost a kilobyte as long as the job runs, and work of the garbage collector.
      const { givenUp } = run;
      const onAbort = (): void => givenUp.abort(signal.reason);
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
      try {
        const end = await handler(job, { head, write, room }, givenUp.signal);
        this.#served(job);
        return end;
      } catch (error) {
        if (!signal.aborted) this.#failed(error, job, run);
        throw error;
      } finally {
        signal.removeEventListener('abort', onAbort);
        this.#silent.end(run);
        if (this.#state === 'half-open' && this.#silent.isOlder(run)) this.#options.onChange();
      }
    };
  }

  /** Sets whether the upstream is healthy, as far as the worker can determine without a job. */
  healthy(isHealthy: boolean): void {
    if (isHealthy === this.#isHealthy) return;
    this.#isHealthy = isHealthy;
    if (isHealthy && this.#state !== 'closed' && this.#reason === unreachable) this.#closeCircuit();
    else this.#options.onChange();
  }

  close(): void {
    clearInterval(this.#ticks);
    clearTimeout(this.#probeTimer);
    clearTimeout(this.#pauseTimer);
  }

  /** Handles the beginning of an answer. A count of tokens may come from the worker itself, so it proves nothing. */
  #answered({ operation }: GrantedJob): void {
    if (operation === 'count_tokens') return;
    this.#refusals = 0;
    this.#resumesAt = 0;
    this.#closeCircuit();
  }

  /** Handles a complete answer. Only a complete answer ends a row of failures, because a stream that begins may break. */
  #served({ operation }: GrantedJob): void {
    if (operation === 'count_tokens') return;
    this.#failures = 0;
    this.#openings = 0;
  }

  #failed(error: unknown, { operation }: GrantedJob, run: WatchedJob): void {
    if (!(error instanceof RouterError)) return;
    const kind = classifyError(error.code);
    if (kind === 'refused') this.#pause(error);
    // An upstream's endpoint that only counts tokens may fail alone.
    if (kind === undefined || kind === 'refused' || (kind === 'failed' && operation === 'count_tokens')) return;
    this.#failures += 1;
    const reason = kind === 'unreachable' ? unreachable : `failing: ${error.code}`;
    if (this.#state === 'closed' ? kind === 'unreachable' || this.#failures >= maxFailures : this.#isProbe(run)) {
      this.#openCircuit(reason);
    }
  }

  /** Whether a job was begun while the worker was probing. Failures of earlier jobs prove nothing new. */
  #isProbe(run: WatchedJob): boolean {
    return this.#state === 'half-open' && !this.#silent.isOlder(run);
  }

  #closeCircuit(): void {
    if (this.#state === 'closed') return;
    clearTimeout(this.#probeTimer);
    this.#state = 'closed';
    this.#options.log.info('the upstream answers again: the worker takes jobs');
    this.#options.onChange();
  }

  #openCircuit(reason: string): void {
    this.#state = 'open';
    this.#reason = reason;
    this.#openings += 1;
    const ms = computeOpenMs(this.#openings);
    this.#options.log.warn({ reason, ms: Math.round(ms) }, 'the upstream fails: the worker takes no jobs for now');
    clearTimeout(this.#probeTimer);
    this.#probeTimer = setTimeout(() => this.#probe(), ms);
    this.#options.onChange();
  }

  #probe(): void {
    this.#state = 'half-open';
    this.#silent.mark();
    this.#options.onChange();
  }

  #pause({ code, retryAfter }: RouterError): void {
    const now = performance.now();
    // Jobs that ran at the same time are refused together, which counts as one refusal.
    if (!this.#pauseTimer) this.#refusals += 1;
    const byDefault = Math.min(maxDefaultPauseMs, firstPauseMs * 2 ** (this.#refusals - 1));
    const askedMs = retryAfter === undefined ? byDefault : retryAfter * 1000;
    const ms = Math.min(maxPauseMs, askedMs);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    this.#resumesAt = Math.max(this.#resumesAt, Date.now() + Math.ceil(Math.max(askedMs, this.#pausedUntil - now)));
    this.#pauseReason = `limited: ${code}`;
    clearTimeout(this.#pauseTimer);
    // A timer may fire a fraction of a millisecond early, so the pause ends with the timer, not by the clock.
    this.#pauseTimer = setTimeout(() => this.#resume(), Math.ceil(this.#pausedUntil - now));
    this.#options.log.warn({ reason: this.#pauseReason, ms }, 'the upstream refuses work: the worker pauses');
    this.#options.onChange();
  }

  #resume(): void {
    this.#pauseTimer = undefined;
    this.#options.onChange();
  }

  #tick(): void {
    const { isStuck, hasStuckProbe } = this.#silent.checkStuckStreams(performance.now(), this.#isHealthy, maxFailures);
    if (this.#state === 'closed' ? isStuck : this.#state === 'half-open' && hasStuckProbe)
      this.#openCircuit('failing: no_output');
  }
}

export function computeOpenMs(openings: number): number {
  return Math.min(maxOpenMs, firstOpenMs * 2 ** (openings - 1)) * (0.75 + Math.random() * 0.5);
}

/**
 * Classifies what an error shows about the upstream. Errors of the request, of limits of the router and of the worker itself show
 * nothing.
 */
function classifyError(code: ErrorCode): 'failed' | 'unreachable' | 'refused' | undefined {
  switch (code) {
    case 'upstream_failed':
    case 'upstream_timeout':
      return 'failed';
    case 'worker_lost':
      return 'unreachable';
    case 'rate_limit_exceeded':
    case 'overloaded':
      return 'refused';
    default:
      return undefined;
  }
}
