import { errorTable, type ErrorCode, type RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Attempt } from '../attempt.ts';
import type { Job } from '../job.ts';
import { hasFirstTokens, isSlow, isSuspect, standsOut } from './compare-with-peers.ts';
import type { LiveWorker } from './live-pool.ts';
import type { EjectionReason } from './model-health.ts';
import type { Fault } from './outcome-average.ts';

/** Milliseconds for which a comparison of a worker with its peers holds: each goes through the whole pool. */
const comparedMs = { faults: 100, firstTokens: 1_000 };

/** Milliseconds after which a first token may count as late. */
const lateMs = 2_000;

/** What an error says of the worker that reports it: that it failed, that it refuses the request, or nothing. */
export function blameOf(code: ErrorCode): Fault | 'none' {
  // Lost contact is not guilt, and a worker that stops is not sick.
  if (code === 'worker_lost' || code === 'shutting_down') return 'none';
  const { status, movable } = errorTable[code];
  if (movable || code === 'idle_timeout' || code === 'insufficient_quota') return 'failure';
  return status >= 400 && status < 500 && status !== 408 && status !== 429 ? 'refusal' : 'none';
}

/**
 * Finds out from the outcomes of jobs which workers are sick with which model, by comparison with the other workers of their
 * pool, and ejects them: at most half of those in a pool that take jobs. A probe that is served ends an ejection. Refusals alone eject
 * nobody, because one client's bad requests may all have met the same worker: another worker has to serve a request that was refused. See
 * docs/decisions/0013-outlier-ejection.md.
 */
export class OutcomeJudge {
  readonly #log: Logger;
  /** The attempt of each job, waiting or running, that was refused by a worker whose refusals stand out, and the error. */
  readonly #refused = new WeakMap<Job, { attempt: Attempt; code: ErrorCode }>();

  constructor(log: Logger) {
    this.#log = log;
  }

  /** The first piece of a job's streamed answer has come. */
  firstToken(job: Job, { worker, placement, claimedAt }: Attempt, now: number): void {
    this.#disprove(job, worker, now);
    const { model } = placement;
    const { outcomes, ejection } = worker.health.of(model);
    outcomes.countFirstToken(now - claimedAt, now);
    if (ejection || !hasFirstTokens(outcomes, now)) return;
    if (!outcomes.isDue(now, comparedMs.firstTokens)) return;
    if (isSlow(worker, model, outcomes.firstTokenMs, now)) this.#eject(worker, model, 'slow', now);
  }

  /** The attempt has served its job. */
  served(job: Job, attempt: Attempt, now: number): void {
    const { worker, placement, claimedAt, grant, isLate } = attempt;
    this.#disprove(job, worker, now);
    const { model } = placement;
    const health = worker.health.of(model);
    const { outcomes, ejection } = health;
    // One that was late has counted as a failure, and does not end a row of them.
    if (!isLate) outcomes.countGood(now);
    // What it was given before says nothing new.
    if (!ejection || claimedAt < ejection.at) return;
    if (ejection.reason === 'slow') {
      const { firstTokenMs } = job;
      // A whole answer does not show when it began.
      if (firstTokenMs === undefined) return;
      if (isSlow(worker, model, firstTokenMs, now)) return void health.probeFailed(grant, now);
      outcomes.clearFirstTokens();
    }
    worker.health.recover(model, now);
    const ms = Math.round(now - ejection.at);
    this.#log.info({ worker: worker.id, model, reason: ejection.reason, ms }, 'worker serves again after an ejection');
  }

  /**
   * The attempt has failed with this error.
   * @returns whether another worker may serve the job: after a failure; after a refusal only where this worker's stand out among
   * those of its peers, and once, because a request that two workers refuse is bad itself
   */
  failed(job: Job, attempt: Attempt, { code, movable }: RouterError, now: number): boolean {
    const blame = blameOf(code);
    if (blame === 'failure') this.#countFailure(attempt, code, now);
    return blame === 'refusal' ? this.#isRefusedAlone(job, attempt, code, now) : movable;
  }

  /**
   * The attempt waits for the first piece of a streamed answer. One that comes far later than those of the worker's peers counts as
   * a failure. One job may just be large: where the worker's last outcome was a failure, too, it counts again every two seconds, so
   * that a worker that hangs with two jobs is found out without a third.
   * @returns whether the worker is ejected, so that the job is better off with another one
   */
  awaited(attempt: Attempt, now: number): boolean {
    const { worker, placement, claimedAt } = attempt;
    const { model } = placement;
    if (now - claimedAt < lateMs) return false;
    if (!attempt.isLate) {
      if (!attempt.isDue(now, comparedMs.firstTokens) || !isSlow(worker, model, now - claimedAt, now)) return false;
      attempt.isLate = true;
      this.#countFailure(attempt, 'slow', now);
    } else if (attempt.isDue(now, lateMs) && (worker.health.find(model)?.outcomes.row('failure') ?? 0) > 1)
      this.#countFailure(attempt, 'slow', now);
    return worker.health.isEjected(model);
  }

  #countFailure(attempt: Attempt, reason: EjectionReason, now: number): void {
    const { worker, placement } = attempt;
    const { model } = placement;
    if (!this.#standsOut(attempt, 'failure', now) || worker.health.isEjected(model)) return;
    this.#eject(worker, model, reason, now);
  }

  /** Whether only this worker may refuse the request, as far as is known. */
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

  /** A worker serves a job: another one that refused the same request, and stands out with its refusals, is ejected. */
  #disprove(job: Job, server: LiveWorker, now: number): void {
    const refused = this.#refused.get(job);
    if (!refused) return;
    this.#refused.delete(job);
    const { worker, placement } = refused.attempt;
    const health = worker.health.find(placement.model);
    if (worker === server || health?.ejection || !health?.outcomes.refusesAlone) return;
    this.#eject(worker, placement.model, refused.code, now);
  }

  /** Counts a fault of the attempt's worker. @returns whether it is ejected with the model, or stands out among its peers */
  #standsOut({ worker, placement, grant }: Attempt, fault: Fault, now: number): boolean {
    const { model } = placement;
    const health = worker.health.of(model);
    const { outcomes } = health;
    outcomes.countFault(fault, now);
    if (health.probeFailed(grant, now) || health.ejection) return true;
    if (!isSuspect(outcomes, fault, now)) return false;
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

/** Whether at most half of the pool's workers that take jobs are ejected with the model when this one is, too. */
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
