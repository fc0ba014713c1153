import { errorTable, type ErrorCode, type RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Attempt } from '../attempt.ts';
import type { Job } from '../job.ts';
import { hasFirstTokens, isSlow, needsComparison, standsOut } from './compare-with-peers.ts';
import type { LiveWorker } from './live-pool.ts';
import type { EjectionReason } from './model-health.ts';
import type { Fault } from './outcome-average.ts';

/** Milliseconds for which the result of a comparison with the peers is reused, because each comparison goes through the whole pool. */
const comparedMs = { faults: 100, firstTokens: 1_000 };

const lateMs = 2_000;

/** Classifies what an error shows about the worker that reports it: a failure, a refusal of the request, or nothing. */
export function classifyFault(code: ErrorCode): Fault | 'none' {
  // A lost connection is not the worker's fault, and a worker that stops is not faulty.
  if (code === 'worker_lost' || code === 'shutting_down') return 'none';
  const { status, movable } = errorTable[code];
  if (movable || code === 'idle_timeout' || code === 'insufficient_quota') return 'failure';
  return status >= 400 && status < 500 && status !== 408 && status !== 429 ? 'refusal' : 'none';
}

/**
 * Finds workers that are faulty with a model by comparing the outcomes of their jobs with those of the other workers of their pool, and
 * ejects them. It ejects at most half of a pool's workers that take jobs. A probe that is served ends an ejection. Refusals alone eject no
 * worker, because one client's bad requests may all have gone to the same worker. Another worker must serve a refused request first. See
 * docs/decisions/0013-outlier-ejection.md.
 */
export class OutcomeJudge {
  readonly #log: Logger;
  /** The refused attempt of each waiting or running job whose worker stands out with its refusals, with the error. */
  readonly #refused = new WeakMap<Job, { attempt: Attempt; code: ErrorCode }>();

  constructor(log: Logger) {
    this.#log = log;
  }

  firstToken(job: Job, { worker, placement, claimedAt }: Attempt, now: number): void {
    this.#disprove(job, worker, now);
    const { model } = placement;
    const { outcomes, ejection } = worker.health.getOrCreate(model);
    outcomes.countFirstToken(now - claimedAt, now);
    if (ejection || !hasFirstTokens(outcomes, now)) return;
    if (!outcomes.isDue(now, comparedMs.firstTokens)) return;
    if (isSlow(worker, model, outcomes.firstTokenMs, now)) this.#eject(worker, model, 'slow', now);
  }

  recordServed(job: Job, attempt: Attempt, now: number): void {
    const { worker, placement, claimedAt, grant, isLate } = attempt;
    this.#disprove(job, worker, now);
    const { model } = placement;
    const health = worker.health.getOrCreate(model);
    const { outcomes, ejection } = health;
    // A late job has already counted as a failure, and does not end a row of failures.
    if (!isLate) outcomes.countGood(now);
    // A job that the worker got before the ejection shows nothing new.
    if (!ejection || claimedAt < ejection.at) return;
    if (ejection.reason === 'slow') {
      const { firstTokenMs } = job;
      // The end of a whole answer does not show when the answer began.
      if (firstTokenMs === undefined) return;
      if (isSlow(worker, model, firstTokenMs, now)) return void health.recordProbeFailure(grant, now);
      outcomes.clearFirstTokens();
    }
    worker.health.recover(model, now);
    const ms = Math.round(now - ejection.at);
    this.#log.info({ worker: worker.id, model, reason: ejection.reason, ms }, 'worker serves again after an ejection');
  }

  /**
   * Counts an attempt that has failed with this error.
   * @returns whether another worker may serve the job. After a failure, it may. After a refusal, it may only if this worker stands out with
   * refusals among its peers, and only once, because a request that two workers refuse is itself bad
   */
  failed(job: Job, attempt: Attempt, { code, movable }: RouterError, now: number): boolean {
    const blame = classifyFault(code);
    if (blame === 'failure') this.#countFailure(attempt, code, now);
    return blame === 'refusal' ? this.#isRefusedAlone(job, attempt, code, now) : movable;
  }

  /**
   * Checks an attempt that waits for the first piece of a streamed answer. A wait far longer than those of the worker's peers counts as
   * a failure. One such job may just be large. If the worker's last outcome was a failure, too, the wait counts again every two seconds,
   * so that a worker that hangs with two jobs is detected without a third.
   * @returns whether the worker is ejected, so that the job should move to another one
   */
  checkLate(attempt: Attempt, now: number): boolean {
    const { worker, placement, claimedAt } = attempt;
    const { model } = placement;
    if (now - claimedAt < lateMs) return false;
    if (!attempt.isLate) {
      if (!attempt.isComparisonDue(now, comparedMs.firstTokens) || !isSlow(worker, model, now - claimedAt, now))
        return false;
      attempt.isLate = true;
      this.#countFailure(attempt, 'slow', now);
    } else if (
      attempt.isComparisonDue(now, lateMs) &&
      (worker.health.find(model)?.outcomes.faultsInRow('failure') ?? 0) > 1
    )
      this.#countFailure(attempt, 'slow', now);
    return worker.health.isEjected(model);
  }

  #countFailure(attempt: Attempt, reason: EjectionReason, now: number): void {
    const { worker, placement } = attempt;
    const { model } = placement;
    if (!this.#standsOut(attempt, 'failure', now) || worker.health.isEjected(model)) return;
    this.#eject(worker, model, reason, now);
  }

  #isRefusedAlone(job: Job, attempt: Attempt, code: ErrorCode, now: number): boolean {
    const first = this.#refused.get(job)?.attempt;
    if (first) {
      const health = first.worker.health.find(first.placement.model);
      health?.outcomes.takeBackRefusal();
      health?.probeSoon(now);
      return false;
    }
    if (!this.#standsOut(attempt, 'refusal', now)) return false;
    this.#refused.set(job, { attempt, code });
    return true;
  }

  /** Handles a job that a worker serves after another worker refused it. The other worker is ejected if it stands out with its refusals. */
  #disprove(job: Job, server: LiveWorker, now: number): void {
    const refused = this.#refused.get(job);
    if (!refused) return;
    this.#refused.delete(job);
    const { worker, placement } = refused.attempt;
    const health = worker.health.find(placement.model);
    if (worker === server || health?.ejection || !health?.outcomes.refusesAlone) return;
    this.#eject(worker, placement.model, refused.code, now);
  }

  /**
   * Counts a fault of the attempt's worker.
   * @returns whether the worker is ejected with the model, or stands out among its peers
   */
  #standsOut({ worker, placement, grant }: Attempt, fault: Fault, now: number): boolean {
    const { model } = placement;
    const health = worker.health.getOrCreate(model);
    const { outcomes } = health;
    outcomes.countFault(fault, now);
    if (health.recordProbeFailure(grant, now) || health.ejection) return true;
    if (!needsComparison(outcomes, fault, now)) return false;
    return outcomes.standsOut(fault, now, comparedMs.faults, () => standsOut(worker, model, fault, now));
  }

  #eject(worker: LiveWorker, model: string, reason: EjectionReason, now: number): void {
    const facts = { worker: worker.id, model, reason };
    if (!mayEject(worker, model))
      return this.#log.debug(facts, 'worker stands out, and half of its pool is ejected already');
    worker.health.eject(model, reason, now);
    this.#log.warn(facts, 'worker is ejected: its jobs fail or are slow where those of its peers are not');
  }
}

/** Whether at most half of the pool's workers that take jobs would be ejected with the model, this worker included. */
export function mayEject({ pool }: LiveWorker, model: string): boolean {
  let taking = 0;
  let ejected = 1;
  for (const { announcement, health } of pool.workers) {
    if (!announcement.accepting) continue;
    taking += 1;
    if (health.isEjected(model)) ejected += 1;
  }
  return ejected <= taking / 2;
}
