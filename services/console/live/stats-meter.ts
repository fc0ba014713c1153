import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { ownContract } from '#shared/broker/contract/contract-range.ts';
import type { Job } from '#shared/broker/dispatch/job.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import { countWaitingByLane, countWaitingByTier, countUnplaced } from '#shared/broker/dispatch/waiting-counts.ts';
import type { Tier } from '#shared/core/tier.ts';
import { ModelSpeeds } from './model-speeds.ts';
import {
  firstTokenBoundsMs,
  type Failure,
  type IngressStats,
  maxTurns,
  type RunningTurnStats,
} from '#shared/broker/contract/ingress-stats.ts';
import { isFault, type ErrorCode } from '#shared/core/errors.ts';
import { findLatencyClass } from '#shared/core/metrics/latency-classes.ts';
import { RecentSums } from '#shared/core/metrics/recent-sums.ts';

/** The maximum number of failures in the stats. */
const maxFailures = 20;

/** The numbers of seconds and of minutes for which counts are kept. */
const [keptSeconds, keptMinutes] = [60, 60];

/**
 * Counts what this ingress serves, with a few additions per request. Input times are milliseconds of `performance.now()`, output times are
 * milliseconds since 1970.
 */
export class StatsMeter {
  readonly modelSpeeds = new ModelSpeeds();
  readonly #jobs: () => Iterable<Job>;
  readonly #requests = new RecentSums(keptSeconds);
  readonly #tokens = new RecentSums(keptSeconds);
  readonly #errors = new RecentSums(keptSeconds);
  readonly #faults = new RecentSums(keptSeconds);
  readonly #firstToken = Array.from({ length: firstTokenBoundsMs.length + 1 }, () => new RecentSums(keptSeconds));
  readonly #served = new Map<Tier, RecentSums>();
  readonly #refused = new Map<ErrorCode, { seconds: RecentSums; minutes: RecentSums }>();
  readonly #failures: Failure[] = [];

  constructor(jobs: () => Iterable<Job>) {
    this.#jobs = jobs;
  }

  /**
   * Counts a finished job. Stores only the code of an error and where it happened, never its message, because the message of an upstream
   * may quote the prompt.
   */
  countJob(requestId: string, { kind, ownerId }: Pick<KeyIdentity, 'kind' | 'ownerId'>, report: JobReport): void {
    const { queuedAt, firstByteAt, endedAt, attempt, state, end, error } = report;
    const second = toSecond(endedAt);
    this.modelSpeeds.add(report);
    this.#requests.add(second, 1);
    if (firstByteAt !== undefined) this.#firstToken[computeLatencyClass(firstByteAt - queuedAt)]?.add(second, 1);
    if (end) this.#countTokens(end.usage.completionTokens, toSecond(firstByteAt ?? endedAt), second);
    const tier = attempt?.worker.announcement.tier;
    if (state === 'done' && tier) this.#countServed(tier, Math.floor(second / 60));
    if (!error) return;
    this.#errors.add(second, 1);
    if (isFault(error.code)) this.#faults.add(second, 1);
    this.#failures.unshift({
      at: Math.round(performance.timeOrigin + endedAt),
      requestId,
      code: error.code,
      ...(kind === 'user' && ownerId !== undefined ? { userId: ownerId } : {}),
      ...(attempt ? { model: attempt.placement.model } : {}),
      ...(attempt && tier ? { tier, worker: attempt.worker.id } : {}),
    });
    if (this.#failures.length > maxFailures) this.#failures.pop();
  }

  /** Counts a request that was refused before a worker got it. */
  countRefusal(code: ErrorCode): void {
    const second = toSecond(performance.now());
    let sums = this.#refused.get(code);
    if (!sums)
      this.#refused.set(code, (sums = { seconds: new RecentSums(keptSeconds), minutes: new RecentSums(keptMinutes) }));
    sums.seconds.add(second, 1);
    sums.minutes.add(Math.floor(second / 60), 1);
  }

  /** Returns the counts of the last complete seconds and minutes, and the state of the jobs now. */
  read(): IngressStats {
    const second = toSecond(performance.now());
    const minute = Math.floor(second / 60);
    const jobs = [...this.#jobs()];
    return {
      v: ownContract.newest,
      oldest: ownContract.oldest,
      at: second * 1000,
      requests: this.#requests.sumsBefore(second),
      tokens: this.#tokens.sumsBefore(second).map((value) => Math.round(value * 10) / 10),
      errors: this.#errors.sumsBefore(second),
      faults: this.#faults.sumsBefore(second),
      firstToken: this.#firstToken.map((sums) => sums.totalUpTo(second)),
      activeStreams: jobs.filter(({ state }) => state === 'streaming').length,
      servedByTier: Object.fromEntries(Array.from(this.#served, ([tier, sums]) => [tier, sums.totalUpTo(minute)])),
      lanes: countWaitingByLane(jobs).map(({ tier, pool, class: name, waiting }) => ({
        tier,
        pool,
        class: name,
        waiting,
      })),
      waiting: jobs.filter(({ state }) => state === 'queued').length,
      unplaced: countUnplaced(jobs),
      waitingByTier: countWaitingByTier(jobs),
      refused: this.#readRefused(second),
      turns: listRunningTurns(jobs),
      failures: [...this.#failures],
    };
  }

  #readRefused(second: number): IngressStats['refused'] {
    return Array.from(this.#refused, ([code, sums]) => ({
      code,
      minute: sums.seconds.totalUpTo(second),
      hour: sums.minutes.totalUpTo(Math.floor(second / 60)),
    })).filter(({ hour }) => hour > 0);
  }

  /**
   * Spreads the tokens of an answer over the seconds in which the answer streamed, because the number of tokens is known only at the end.
   * @param from the second of the first token
   * @param to the second of the end
   */
  #countTokens(tokens: number, from: number, to: number): void {
    const begin = Math.max(from, to - keptSeconds);
    const share = tokens / (to - from + 1);
    for (let second = begin; second <= to; second += 1) this.#tokens.add(second, share);
  }

  #countServed(tier: Tier, minute: number): void {
    let sums = this.#served.get(tier);
    if (!sums) {
      sums = new RecentSums(keptMinutes);
      this.#served.set(tier, sums);
    }
    sums.add(minute, 1);
  }
}

function computeLatencyClass(milliseconds: number): number {
  return Math.min(findLatencyClass(milliseconds), firstTokenBoundsMs.length);
}

function toSecond(time: number): number {
  return Math.floor((performance.timeOrigin + time) / 1000);
}

/** Lists the turns of agent sessions that jobs serve, in the order of the jobs. A request that several jobs serve counts once. */
export function listRunningTurns(
  jobs: Iterable<Pick<Job, 'request' | 'queuedAt' | 'state' | 'attempt'>>,
): RunningTurnStats[] {
  const turns = new Map<string, RunningTurnStats>();
  for (const { request, queuedAt, state, attempt } of jobs) {
    if (!request.turn) continue;
    const { program, session, agent, parent, type, key, user, team } = request.turn;
    const { requestId } = request;
    // Clients choose the ids of requests, so ids are unique only among the requests of one key.
    const turnId = `${key} ${requestId}`;
    if (turns.has(turnId)) continue;
    const since = Math.round(performance.timeOrigin + queuedAt);
    const model = state === 'queued' ? undefined : attempt?.placement.model;
    turns.set(turnId, { request: requestId, key, user, team, program, session, agent, parent, type, since, model });
    if (turns.size === maxTurns) break;
  }
  return [...turns.values()];
}
