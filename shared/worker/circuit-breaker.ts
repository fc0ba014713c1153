import type { GrantedJob, JobHandler, Reply } from '#shared/broker/contract/job-contract.ts';
import type { WorkerFacts } from '#shared/broker/worker/worker-options.ts';
import { RouterError, type ErrorCode } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { SilentJobs, type WatchedJob } from './silent-jobs.ts';

/** Failures in a row after which the worker stops taking jobs. */
export const maxFailures = 3;

/** Milliseconds for which the circuit stays open. They double with each further opening in a row, and vary by a quarter. */
const firstOpenMs = 1000;
/** Maximum milliseconds for which the circuit stays open, before they are varied. */
const maxOpenMs = 8000;

/** Maximum milliseconds of a pause. Afterwards, the upstream is tried again, even if it requested a longer pause. */
const maxPauseMs = 60_000;

/** Milliseconds of a pause if the upstream's refusal states no time. They double with each further refusal in a row. */
const firstPauseMs = 1000;
/** Maximum milliseconds of a pause if the upstream's refusal states no time. */
const maxDefaultPauseMs = 30_000;

/**
 * The reason of an open circuit if no connection to the upstream could be made. A successful health check then suffices to close the
 * circuit.
 */
const unreachableReason = 'unreachable';

/** Milliseconds between two checks for jobs without output. */
const tickMs = 500;

/**
 * The circuit breaker of a worker. Three conditions limit the jobs that the worker takes:
 *
 * - failures: after `maxFailures` without a success in between, or one refused connection, the worker takes no jobs for a while. Then it
 *   takes one job at a time, until the upstream answers one;
 * - a temporary refusal by the upstream (a rate limit, an overload): the worker takes no jobs during a pause. The refusal may state the
 *   length of the pause;
 * - an unhealthy upstream, which the worker detects without a job: the worker takes no jobs until the upstream is healthy.
 *
 * States of the circuit for failures: closed (takes jobs) → open → half-open → closed; half-open → open. An answer that begins closes the
 * circuit in every state.
 */
export class CircuitBreaker {
  readonly #log: Logger;
  readonly #onChange: () => void;
  readonly #silentJobs = new SilentJobs();
  readonly #tickTimer: NodeJS.Timeout;
  #state: 'closed' | 'open' | 'half-open' = 'closed';
  #openReason = '';
  #failures = 0;
  /** The number of times that the circuit has opened since the last complete answer. */
  #openings = 0;
  #probeTimer: NodeJS.Timeout | undefined;
  #pausedUntil = 0;
  /** When the upstream is expected to take work again, in milliseconds since 1970: the end of the pause, or later. */
  #resumesAt = 0;
  #pauseReason = '';
  #refusals = 0;
  #pauseTimer: NodeJS.Timeout | undefined;
  #isHealthy = true;

  /** @param onChange called when the result of `restrict` changes */
  constructor(log: Logger, onChange: () => void) {
    this.#log = log;
    this.#onChange = onChange;
    this.#tickTimer = setInterval(() => this.#tick(), tickMs);
  }

  /** Returns the worker's facts to announce. They include the limit on jobs, if there is one, and its reason. */
  restrict(facts: WorkerFacts): WorkerFacts {
    const { accepting } = facts;
    if (!this.#isHealthy) return { ...facts, accepting: false, reason: 'unhealthy' };
    if (this.#pauseTimer) return { ...facts, accepting: false, reason: this.#pauseReason, resumesAt: this.#resumesAt };
    if (this.#state === 'open') return { ...facts, accepting: false, reason: this.#openReason };
    if (this.#state === 'closed' || !accepting) return facts;
    // Jobs from before the probe keep their slots.
    return { ...facts, slots: Math.min(facts.slots, this.#silentJobs.olderCount + 1), reason: this.#openReason };
  }

  /** Wraps a handler; the outcomes of its jobs control the circuit breaker. */
  wrapHandler(handler: JobHandler): JobHandler {
    return async (job, reply, signal) => {
      const watched = this.#silentJobs.begin(job.stream);
      const write = (piece: string | Uint8Array): void => {
        if (this.#silentJobs.recordOutput(watched)) this.#recordAnswerBegin(job);
        reply.write(piece);
      };
      const addHeaders: Reply['addHeaders'] = (headers) => reply.addHeaders(headers);
      const waitForRoom = (): Promise<void> | undefined => reply.waitForRoom?.();
      // `AbortSignal.any` would cost a kilobyte for as long as the job runs, and work for the garbage collector.
      const { controller } = watched;
      const onAbort = (): void => controller.abort(signal.reason);
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
      try {
        const end = await handler(job, { addHeaders, write, waitForRoom }, controller.signal);
        this.#recordAnswerEnd(job);
        return end;
      } catch (error) {
        if (!signal.aborted) this.#recordFailure(error, job, watched);
        throw error;
      } finally {
        signal.removeEventListener('abort', onAbort);
        this.#silentJobs.end(watched);
        if (this.#state === 'half-open' && this.#silentJobs.isOlder(watched)) this.#onChange();
      }
    };
  }

  /** Sets whether the upstream is healthy, as far as the worker can determine without a job. */
  setHealthy(isHealthy: boolean): void {
    if (isHealthy === this.#isHealthy) return;
    this.#isHealthy = isHealthy;
    if (isHealthy && this.#state !== 'closed' && this.#openReason === unreachableReason) this.#closeCircuit();
    else this.#onChange();
  }

  close(): void {
    clearInterval(this.#tickTimer);
    clearTimeout(this.#probeTimer);
    clearTimeout(this.#pauseTimer);
  }

  /** Records that an answer has begun. A count of tokens may come from the worker itself, so it proves nothing. */
  #recordAnswerBegin({ operation }: GrantedJob): void {
    if (operation === 'count_tokens') return;
    // During a pause, only jobs from before it answer, which the upstream took before it refused.
    if (!this.#pauseTimer) {
      this.#refusals = 0;
      this.#resumesAt = 0;
    }
    this.#closeCircuit();
  }

  /** Records a complete answer. Only a complete answer ends a row of failures, because a stream that begins may break. */
  #recordAnswerEnd({ operation }: GrantedJob): void {
    if (operation === 'count_tokens') return;
    this.#failures = 0;
    this.#openings = 0;
  }

  #recordFailure(error: unknown, { operation }: GrantedJob, watched: WatchedJob): void {
    if (!(error instanceof RouterError)) return;
    const kind = classifyError(error.code);
    if (kind === 'refused') this.#pause(error);
    // The upstream's endpoint for counting tokens may fail while the others work.
    if (kind === undefined || kind === 'refused' || (kind === 'failed' && operation === 'count_tokens')) return;
    this.#failures += 1;
    const reason = kind === 'unreachable' ? unreachableReason : `failing: ${error.code}`;
    if (this.#state === 'closed' ? kind === 'unreachable' || this.#failures >= maxFailures : this.#isProbe(watched)) {
      this.#openCircuit(reason);
    }
  }

  /** Whether the circuit is half-open, and the job began after it became so. Failures of earlier jobs prove nothing new. */
  #isProbe(watched: WatchedJob): boolean {
    return this.#state === 'half-open' && !this.#silentJobs.isOlder(watched);
  }

  #closeCircuit(): void {
    if (this.#state === 'closed') return;
    clearTimeout(this.#probeTimer);
    this.#state = 'closed';
    this.#log.info('the upstream answers again: the worker takes jobs');
    this.#onChange();
  }

  #openCircuit(reason: string): void {
    this.#state = 'open';
    this.#openReason = reason;
    this.#openings += 1;
    const ms = computeOpenMs(this.#openings);
    this.#log.warn({ reason, ms: Math.round(ms) }, 'the upstream fails: the worker takes no jobs for now');
    clearTimeout(this.#probeTimer);
    this.#probeTimer = setTimeout(() => this.#beginProbing(), ms);
    this.#onChange();
  }

  #beginProbing(): void {
    this.#state = 'half-open';
    this.#silentJobs.markRunning();
    this.#onChange();
  }

  #pause({ code, retryAfter }: RouterError): void {
    const now = performance.now();
    // Jobs that ran at the same time are refused together, which counts as one refusal.
    if (!this.#pauseTimer) this.#refusals += 1;
    const defaultMs = Math.min(maxDefaultPauseMs, firstPauseMs * 2 ** (this.#refusals - 1));
    const requestedMs = retryAfter === undefined ? defaultMs : retryAfter * 1000;
    const ms = Math.min(maxPauseMs, requestedMs);
    this.#pausedUntil = Math.max(this.#pausedUntil, now + ms);
    this.#resumesAt = Math.max(this.#resumesAt, Date.now() + Math.ceil(Math.max(requestedMs, this.#pausedUntil - now)));
    this.#pauseReason = `limited: ${code}`;
    clearTimeout(this.#pauseTimer);
    // A timer may fire a fraction of a millisecond early, so the pause ends with the timer, not by the clock.
    this.#pauseTimer = setTimeout(() => this.#endPause(), Math.ceil(this.#pausedUntil - now));
    this.#log.warn({ reason: this.#pauseReason, ms }, 'the upstream refuses work: the worker pauses');
    this.#onChange();
  }

  #endPause(): void {
    this.#pauseTimer = undefined;
    this.#onChange();
  }

  #tick(): void {
    const { isStuck, hasStuckProbe } = this.#silentJobs.checkStuckStreams(
      performance.now(),
      this.#isHealthy,
      maxFailures,
    );
    if (this.#state === 'closed' ? isStuck : this.#state === 'half-open' && hasStuckProbe)
      this.#openCircuit('failing: no_output');
  }
}

/** Computes the milliseconds for which the circuit stays open at this many openings in a row. */
export function computeOpenMs(openings: number): number {
  return Math.min(maxOpenMs, firstOpenMs * 2 ** (openings - 1)) * (0.75 + Math.random() * 0.5);
}

/**
 * Classifies an error by what it shows about the upstream. Returns undefined for errors of the request, of the router's limits and of the
 * worker itself, which show nothing about the upstream.
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
