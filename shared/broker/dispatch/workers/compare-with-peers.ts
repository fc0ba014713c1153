import type { LiveWorker } from './live-worker.ts';
import type { Fault, OutcomeAverage } from './outcome-average.ts';

/** A shorter run of faults is not compared with the runs of peers. */
export const minFaultsInRow = 3;
/** A run of faults stands out if a peer would have a run of this length with at most this probability. */
const maxChance = 1e-5;

/** The minimum share of faults that is assumed of the peers, because a few good jobs do not prove that a peer never fails. */
const minPeerShare = 0.02;

/**
 * A worker that fails often, but not always, stands out if it has had at least `weight` recent jobs, at least `share` of them are faults,
 * and at most `peerShare` of its peers' jobs are faults.
 */
const sickThresholds = { share: 0.5, weight: 10, peerShare: 0.1 };

/**
 * A worker is slow if its first tokens take at least `times` as long as the first tokens of its peers, and at least `ms` milliseconds
 * longer. It is compared if it has had at least `firstTokens` recent first tokens.
 */
const slowThresholds = { times: 5, ms: 1_000, firstTokens: 3 };

/** Whether so many of a worker's jobs have this fault that the worker must be compared with its peers. */
export function needsComparison(average: OutcomeAverage, fault: Fault, now: number): boolean {
  return (
    average.countFaultsInRow(fault) >= minFaultsInRow ||
    (average.computeShare(fault, now) >= sickThresholds.share && average.computeWeight(now) >= sickThresholds.weight)
  );
}

/**
 * Whether a worker has faults that its peers do not have. Either its run of faults is so long that a peer would have such a run with a
 * probability of at most 1 in 100,000. Or at least half of its jobs are faults, and few of its peers' jobs are.
 */
export function standsOut(worker: LiveWorker, model: string, fault: Fault, now: number): boolean {
  const average = worker.health.find(model)?.outcomes;
  if (!average) return false;
  const shares = collectFromPeers(worker, model, (peer) =>
    peer.computeWeight(now) >= 1 ? peer.computeShare(fault, now) : undefined,
  );
  const peerShare = computeQuantile(shares, 0.25);
  if (peerShare === undefined) return false;
  const countFaultsInRow = average.countFaultsInRow(fault);
  if (countFaultsInRow >= minFaultsInRow && Math.max(peerShare, minPeerShare) ** countFaultsInRow <= maxChance)
    return true;
  return (
    needsComparison(average, fault, now) &&
    average.computeShare(fault, now) >= sickThresholds.share &&
    peerShare <= sickThresholds.peerShare
  );
}

/**
 * Whether a worker's time to the first token is far above the times of its peers.
 * @param firstTokenMs the time of the worker in milliseconds; undefined if unknown
 */
export function isSlow(worker: LiveWorker, model: string, firstTokenMs: number | undefined, now: number): boolean {
  if (firstTokenMs === undefined || firstTokenMs < slowThresholds.ms) return false;
  const peerTimesMs = collectFromPeers(worker, model, (peer) =>
    peer.countFirstTokens(now) >= 1 ? peer.firstTokenMs : undefined,
  );
  const median = computeQuantile(peerTimesMs, 0.5);
  return (
    median !== undefined && firstTokenMs >= median * slowThresholds.times && firstTokenMs >= median + slowThresholds.ms
  );
}

/** Whether a worker has had enough recent first tokens to be compared with its peers. */
export function hasFirstTokens(average: OutcomeAverage, now: number): boolean {
  return average.countFirstTokens(now) >= slowThresholds.firstTokens;
}

/**
 * Collects a value from each other worker of the pool. Leaves out workers that have no value, and workers that are ejected for this model.
 */
function collectFromPeers(
  worker: LiveWorker,
  model: string,
  readValue: (average: OutcomeAverage) => number | undefined,
): number[] {
  const values: number[] = [];
  for (const peer of worker.pool.workers) {
    if (peer === worker) continue;
    const health = peer.health.find(model);
    const value = health && !health.ejection ? readValue(health.outcomes) : undefined;
    if (value !== undefined) values.push(value);
  }
  return values;
}

/** Computes a quantile of the values, rounded down to one of the values; undefined if there are no values. Sorts the values in place. */
function computeQuantile(values: number[], fraction: number): number | undefined {
  return values.sort((a, b) => a - b)[Math.floor((values.length - 1) * fraction)];
}
