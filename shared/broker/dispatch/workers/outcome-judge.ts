import { errorTable, type ErrorCode } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Attempt } from '../attempt.ts';
import { hasFirstTokens, isSlow, isSuspect, standsOut } from './compare-with-peers.ts';
import type { LiveWorker } from './live-pool.ts';
import type { EjectionReason } from './worker-health.ts';

/** Milliseconds for which a comparison of a worker with its peers holds: each goes through the whole pool. */
const comparedMs = { failures: 100, firstTokens: 1_000 };

/** Milliseconds after which a first token may count as late. */
const lateMs = 2_000;

/** What an error says of the worker that reports it: that it failed, that it refuses the request, or nothing. */
export function blameOf(code: ErrorCode): 'failure' | 'refusal' | 'none' {
  // Lost contact is not guilt, and a worker that stops is not sick.
  if (code === 'worker_lost' || code === 'shutting_down') return 'none';
  const { status, movable } = errorTable[code];
  if (movable || code === 'idle_timeout' || code === 'insufficient_quota') return 'failure';
  return status >= 400 && status < 500 && status !== 408 && status !== 429 ? 'refusal' : 'none';
}

/**
 * Finds out from the outcomes of jobs which workers are sick, by comparison with the other workers of their pool, and ejects
 * them: at most half of those in a pool that take jobs. A probe that is served ends an ejection.
 * See docs/decisions/0013-outlier-ejection.md.
 */
export class OutcomeJudge {
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** The first piece of a streamed answer has come. */
  firstToken({ worker, placement, claimedAt }: Attempt, now: number): void {
    const { health } = worker;
    const { model } = placement;
    const average = health.averageOf(model);
    average.countFirstToken(now - claimedAt, now);
    if (health.ejection || !hasFirstTokens(average, now)) return;
    if (!average.isDue('firstTokens', now, comparedMs.firstTokens)) return;
    if (isSlow(worker, model, average.firstTokenMs, now)) this.#eject(worker, model, 'slow', now);
  }

  /**
   * The attempt has served its job.
   * @param firstTokenMs from its grant or offer to the first piece of a streamed answer; undefined for one that is not streamed
   */
  served(attempt: Attempt, firstTokenMs: number | undefined, now: number): void {
    const { worker, placement, claimedAt, grant, isLate } = attempt;
    const { health } = worker;
    const { model } = placement;
    const average = health.averageOf(model);
    // One that was late has counted as a failure, and does not end a row of them.
    if (!isLate) average.count('good', now);
    const { ejection } = health;
    // What it was given before says nothing new.
    if (!ejection || claimedAt < ejection.at) return;
    if (ejection.reason === 'slow') {
      if (isSlow(worker, model, firstTokenMs, now)) return void health.probeFailed(grant, now);
      average.clearFirstTokens();
    }
    health.recover(now);
    const ms = Math.round(now - ejection.at);
    this.#log.info({ worker: worker.id, model, reason: ejection.reason, ms }, 'worker serves again after an ejection');
  }

  /**
   * The attempt has failed with this error.
   * @returns whether the worker stands out among its peers, so that another one may well serve the job
   */
  failed(attempt: Attempt, code: ErrorCode, now: number): boolean {
    return blameOf(code) !== 'none' && this.#countBad(attempt, code, now);
  }

  /**
   * The attempt waits for the first piece of a streamed answer. One that comes far later than those of the worker's peers counts as
   * a failure.
   * @returns whether the worker is ejected, so that the job is better off with another one
   */
  awaited(attempt: Attempt, now: number): boolean {
    const { worker, placement, claimedAt } = attempt;
    if (now - claimedAt < lateMs) return false;
    if (!attempt.isLate) {
      const { model } = placement;
      if (!attempt.isDue(now, comparedMs.firstTokens) || !isSlow(worker, model, now - claimedAt, now)) return false;
      attempt.isLate = true;
      this.#countBad(attempt, 'slow', now);
    }
    return worker.health.ejection !== undefined;
  }

  /** Another worker has refused the same request: the first one's refusal says nothing about it. */
  takeBack({ worker, placement }: Attempt, now: number): void {
    worker.health.find(placement.model)?.takeBack();
    worker.health.probeSoon(now);
  }

  /** @returns whether the worker stands out among its peers */
  #countBad({ worker, placement, grant }: Attempt, reason: EjectionReason, now: number): boolean {
    const { health } = worker;
    const { model } = placement;
    const average = health.averageOf(model);
    average.count('bad', now);
    if (health.probeFailed(grant, now) || health.ejection) return true;
    if (!isSuspect(average, now)) return false;
    if (average.isDue('failures', now, comparedMs.failures)) average.standsOut = standsOut(worker, model, now);
    if (average.standsOut) this.#eject(worker, model, reason, now);
    return average.standsOut;
  }

  #eject(worker: LiveWorker, model: string, reason: EjectionReason, now: number): void {
    const facts = { worker: worker.id, model, reason };
    if (!mayEject(worker)) return this.#log.debug(facts, 'worker stands out, and half of its pool is ejected already');
    worker.health.eject(reason, now);
    this.#log.warn(facts, 'worker is ejected: its jobs fail or are slow where those of its peers are not');
  }
}

/** Whether at most half of the pool's workers that take jobs are ejected when this one is, too. */
export function mayEject({ pool }: LiveWorker): boolean {
  let taking = 0;
  let ejected = 1;
  for (const { announcement, health } of pool.workers) {
    if (!announcement.accepting) continue;
    taking += 1;
    if (health.ejection) ejected += 1;
  }
  return ejected <= taking / 2;
}
