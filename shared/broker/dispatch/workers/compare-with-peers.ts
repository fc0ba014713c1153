import type { LiveWorker } from './live-pool.ts';
import type { Fault, OutcomeAverage } from './outcome-average.ts';

/** Minimum faults in a row for a comparison. */
const minRow = 3;
/** The probability below which so many faults in a row are not an accident. */
const maxChance = 1e-5;

/** Minimum share of faults assumed for every worker, because a few good jobs do not prove that a peer never fails. */
const minPeerShare = 0.02;

/**
 * A worker that serves some of its jobs stands out if at least `share` of at least `weight` jobs are faults, and its peers' share is at
 * most `peerShare`.
 */
const sickThresholds = { share: 0.5, weight: 10, peerShare: 0.1 };

/** A worker is slow if its first tokens take `times` as long as its peers' and `ms` milliseconds longer. */
const slowThresholds = { times: 5, ms: 1_000, firstTokens: 3 };

/** Whether so many of a worker's jobs have this fault that the worker must be compared with its peers. */
export function needsComparison(average: OutcomeAverage, fault: Fault, now: number): boolean {
  return (
    average.faultsInRow(fault) >= minRow ||
    (average.share(fault, now) >= sickThresholds.share && average.weight(now) >= sickThresholds.weight)
  );
}

/**
 * Whether a worker has faults that its peers do not have. That is so if a peer would have as many in a row with a probability of less than
 * 1 in 100,000. It is also so if at least half of the worker's jobs are faults and few of its peers' jobs are.
 */
export function standsOut(worker: LiveWorker, model: string, fault: Fault, now: number): boolean {
  const average = worker.health.find(model)?.outcomes;
  if (!average) return false;
  const shares = peersOf(worker, model, (peer) => (peer.weight(now) >= 1 ? peer.share(fault, now) : undefined));
  const peerShare = quantile(shares, 0.25);
  if (peerShare === undefined) return false;
  const row = average.faultsInRow(fault);
  if (row >= minRow && Math.max(peerShare, minPeerShare) ** row <= maxChance) return true;
  return (
    needsComparison(average, fault, now) &&
    average.share(fault, now) >= sickThresholds.share &&
    peerShare <= sickThresholds.peerShare
  );
}

/**
 * Whether a time to the first token is far above those of a worker's peers.
 * @param ms undefined if it is unknown
 */
export function isSlow(worker: LiveWorker, model: string, ms: number | undefined, now: number): boolean {
  if (ms === undefined || ms < slowThresholds.ms) return false;
  const times = peersOf(worker, model, (peer) => (peer.firstTokens(now) >= 1 ? peer.firstTokenMs : undefined));
  const median = quantile(times, 0.5);
  return median !== undefined && ms >= median * slowThresholds.times && ms >= median + slowThresholds.ms;
}

export function hasFirstTokens(average: OutcomeAverage, now: number): boolean {
  return average.firstTokens(now) >= slowThresholds.firstTokens;
}

/** Collects a value from each other worker of the pool that has one and is not ejected with the model. */
function peersOf(
  worker: LiveWorker,
  model: string,
  valueOf: (average: OutcomeAverage) => number | undefined,
): number[] {
  const values: number[] = [];
  for (const peer of worker.pool.workers) {
    if (peer === worker) continue;
    const health = peer.health.find(model);
    const value = health && !health.ejection ? valueOf(health.outcomes) : undefined;
    if (value !== undefined) values.push(value);
  }
  return values;
}

/** Returns a quantile of the values, rounded down; the lowest of only a few values. */
function quantile(values: number[], part: number): number | undefined {
  return values.sort((a, b) => a - b)[Math.floor((values.length - 1) * part)];
}
