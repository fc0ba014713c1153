import { errorTable, type ErrorCode, type RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Attempt, FailureVerdict } from '../attempt.ts';
import type { Job } from '../job.ts';
import { hasFirstTokens, isSlow, minFaultsInRow, needsComparison, standsOut } from './compare-with-peers.ts';
import { hasWorkerBesides } from './live-pool.ts';
import type { LiveWorker } from './live-worker.ts';
import type { Ejection, EjectionReason } from './model-health.ts';
import type { Fault } from './outcome-average.ts';

/** Milliseconds for which the result of a comparison with the peers is used again, because each comparison goes through the whole pool. */
const comparisonValidMs = { faults: 100, firstTokens: 1_000 };

/**
 * A wait for the first piece counts as a failure after this many milliseconds at the earliest, and once more whenever they have passed
 * again.
 */
const lateMs = 2_000;

/** Returns what an error says about the worker that reports it: the kind of fault, or nothing (`none`). */
function classifyFault(code: ErrorCode): Fault | 'none' {
  if (code === 'worker_lost' || code === 'shutting_down') return 'return';
  const { status, movable } = errorTable[code];
  if (movable || code === 'idle_timeout' || code === 'insufficient_quota') return 'failure';
  return status >= 400 && status < 500 && status !== 408 && status !== 429 ? 'refusal' : 'none';
}

/**
 * Ejects workers that are faulty with a model. Compares the outcomes of a worker's jobs with the outcomes of the other workers of its pool.
 * At most half of a pool's workers that take jobs are ejected for failures, refusals or slowness. A probe that is served ends an ejection.
 * Refusals alone eject no worker, because one client's bad requests may all have gone to the same worker: another worker must have served
 * a refused request.
 *
 * A returned job shows no fault, because the worker may stop, lack memory, or have lost its connection or its upstream. A worker that
 * returns one job after the other is ejected without a comparison, even if more than half of its pool is ejected then: its requests are not
 * the reason, and it would get ever more jobs. The reason may be an upstream that all workers of the pool share, so the first worker that
 * serves again makes probes of the others due. The only worker of a pool is not ejected.
 * See docs/decisions/0013-outlier-ejection.md.
 */
export class OutcomeJudge {
  readonly #log: Logger;
  /** The refusals by workers that stand out with their refusals, by job: the refused attempt, and the code of its error. */
  readonly #refusals = new WeakMap<Job, { attempt: Attempt; code: ErrorCode }>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Records that the first piece of a streamed answer has come. */
  recordFirstToken(job: Job, { worker, placement, assignedAt }: Attempt, now: number): void {
    this.#onServedElsewhere(job, worker, now);
    const { model } = placement;
    const { outcomes, ejection } = worker.health.getOrCreate(model);
    outcomes.countFirstToken(now - assignedAt, now);
    // A worker that begins a job has not returned it.
    if (ejection?.reason === 'worker_lost') this.#recover(worker, ejection, now);
    if (ejection || !hasFirstTokens(outcomes, now)) return;
    if (!outcomes.recordFirstTokenComparison(now, comparisonValidMs.firstTokens)) return;
    if (isSlow(worker, model, outcomes.firstTokenMs, now)) this.#eject(worker, model, 'slow', now);
  }

  /** Records that a worker has served a job. */
  recordServed(job: Job, attempt: Attempt, now: number): void {
    const { worker, placement, assignedAt, grant, isLate } = attempt;
    this.#onServedElsewhere(job, worker, now);
    const { model } = placement;
    const health = worker.health.getOrCreate(model);
    const { outcomes, ejection } = health;
    // A late job has counted as a failure already, and does not end a row of failures.
    if (!isLate) outcomes.countGoodJob(now);
    // A job that the worker got before its ejection does not show that it serves again, but it shows that the worker keeps jobs.
    if (!ejection || (assignedAt < ejection.ejectedAt && ejection.reason !== 'worker_lost')) return;
    if (ejection.reason === 'slow') {
      const { firstTokenMs } = job;
      // The end of a whole answer does not show when the answer began.
      if (firstTokenMs === undefined) return;
      if (isSlow(worker, model, firstTokenMs, now)) return void health.recordProbeFailure(grant, now);
      outcomes.clearFirstTokens();
    }
    this.#recover(worker, ejection, now);
  }

  /**
   * Counts an attempt that has failed with this error.
   * @param isUnbegun whether the worker reports that it never began the job
   * @returns the decision on the failure. A refused job may move only if this worker stands out among its peers with its refusals, and only
   * once, because a request that two workers refuse is itself bad. After any other error, the job may move if the error is movable
   */
  recordFailure(
    job: Job,
    attempt: Attempt,
    { code, movable }: RouterError,
    isUnbegun: boolean,
    now: number,
  ): FailureVerdict {
    const isMemoryTaken = code === 'overloaded' && mayLackMemory(attempt);
    const fault = isUnbegun ? (isMemoryTaken ? 'none' : 'return') : classifyFault(code);
    if (fault === 'failure') this.#countFailure(attempt, code, now);
    if (fault === 'return') this.recordReturn(attempt, now);
    const isMovable = fault === 'refusal' ? this.#recordRefusal(job, attempt, code, now) : movable;
    return { isMovable, isBlamed: fault === 'failure' || fault === 'refusal' };
  }

  /** Records that a worker has returned a job. */
  recordReturn({ worker, placement, grant, assignedAt }: Attempt, now: number): void {
    const { model } = placement;
    const health = worker.health.getOrCreate(model);
    const { outcomes } = health;
    outcomes.countReturn(assignedAt, now);
    if (health.recordProbeFailure(grant, now) || health.ejection) return;
    if (outcomes.countFaultsInRow('return') < minFaultsInRow) return;
    if (!hasWorkerBesides(worker.pool, new Set([worker.id]))) return;
    worker.health.eject(model, 'worker_lost', now);
    this.#log.warn({ worker: worker.id, model }, 'worker is ejected: it returns one job after the other');
  }

  /**
   * Checks an attempt that waits for the first piece of a streamed answer. A wait that is far longer than the peers' waits counts as a
   * failure. A single such job may just be large. If the worker has failed twice in a row, the wait counts again every two seconds, so that
   * a worker that hangs with two jobs is detected without a third.
   * @returns whether the worker is ejected, so that the job should move to another worker
   */
  checkLate(attempt: Attempt, now: number): boolean {
    const { worker, placement, assignedAt } = attempt;
    const { model } = placement;
    if (now - assignedAt < lateMs) return false;
    if (!attempt.isLate) {
      if (
        !attempt.recordComparison(now, comparisonValidMs.firstTokens) ||
        !isSlow(worker, model, now - assignedAt, now)
      )
        return false;
      attempt.isLate = true;
      this.#countFailure(attempt, 'slow', now);
    } else if (
      attempt.recordComparison(now, lateMs) &&
      (worker.health.find(model)?.outcomes.countFaultsInRow('failure') ?? 0) > 1
    )
      this.#countFailure(attempt, 'slow', now);
    return worker.health.isEjected(model);
  }

  #countFailure(attempt: Attempt, reason: EjectionReason, now: number): void {
    const { worker, placement } = attempt;
    const { model } = placement;
    if (!this.#countFault(attempt, 'failure', now) || worker.health.isEjected(model)) return;
    this.#eject(worker, model, reason, now);
  }

  /**
   * Records that a worker has refused a job.
   * @returns whether another worker may serve the job
   */
  #recordRefusal(job: Job, attempt: Attempt, code: ErrorCode, now: number): boolean {
    const first = this.#refusals.get(job)?.attempt;
    if (first) {
      const health = first.worker.health.find(first.placement.model);
      health?.outcomes.takeBackRefusal();
      health?.probeSoon(now);
      return false;
    }
    if (!this.#countFault(attempt, 'refusal', now)) return false;
    this.#refusals.set(job, { attempt, code });
    return true;
  }

  /**
   * Handles a job that a worker serves. If another worker has refused the job, and stands out with its refusals, ejects that other worker.
   */
  #onServedElsewhere(job: Job, servingWorker: LiveWorker, now: number): void {
    const refusal = this.#refusals.get(job);
    if (!refusal) return;
    this.#refusals.delete(job);
    const { worker, placement } = refusal.attempt;
    const health = worker.health.find(placement.model);
    if (worker === servingWorker || health?.ejection || !health?.outcomes.refusesAlone) return;
    this.#eject(worker, placement.model, refusal.code, now);
  }

  /**
   * Counts a fault of the attempt's worker.
   * @returns whether the worker is ejected with the model already, or stands out among its peers
   */
  #countFault({ worker, placement, grant }: Attempt, fault: Fault, now: number): boolean {
    const { model } = placement;
    const health = worker.health.getOrCreate(model);
    const { outcomes } = health;
    outcomes.countFault(fault, now);
    if (health.recordProbeFailure(grant, now) || health.ejection) return true;
    if (!needsComparison(outcomes, fault, now)) return false;
    return outcomes.standsOut(fault, now, comparisonValidMs.faults, () => standsOut(worker, model, fault, now));
  }

  #recover(worker: LiveWorker, { model, reason, ejectedAt }: Ejection, now: number): void {
    worker.health.recover(model, now);
    if (reason === 'worker_lost')
      for (const peer of worker.pool.workers) peer.health.find(model)?.probeAfterPeer(reason, now);
    const ms = Math.round(now - ejectedAt);
    this.#log.info({ worker: worker.id, model, reason, ms }, 'worker serves again after an ejection');
  }

  #eject(worker: LiveWorker, model: string, reason: EjectionReason, now: number): void {
    const facts = { worker: worker.id, model, reason };
    if (!mayEject(worker, model))
      return this.#log.debug(facts, 'worker stands out, and half of its pool is ejected already');
    worker.health.eject(model, reason, now);
    this.#log.warn(facts, 'worker is ejected: its jobs fail or are slow where those of its peers are not');
  }
}

/**
 * Whether the worker may lack memory for the body of this attempt: it has another job. A worker without jobs has memory for any body, and
 * refuses an offer for which it has none.
 */
function mayLackMemory({ worker, isOffered }: Attempt): boolean {
  return !isOffered && worker.ownJobs + worker.otherJobs > 1;
}

/** Whether a worker may be ejected with a model: at most half of its pool's workers that take jobs would then be ejected. */
export function mayEject({ pool }: LiveWorker, model: string): boolean {
  let acceptingWorkers = 0;
  let ejectedWorkers = 1;
  for (const worker of pool.workers) {
    if (!worker.announcement.accepting) continue;
    acceptingWorkers += 1;
    if (!worker.isHealthy(model)) ejectedWorkers += 1;
  }
  return ejectedWorkers <= acceptingWorkers / 2;
}
