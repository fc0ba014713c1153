import type { LiveWorker } from './live-pool.ts';
import type { Fault, OutcomeAverage } from './outcome-average.ts';

/** Faults in a row that are compared at least, and the chance below which that many are no accident. */
const minRow = 3;
const maxChance = 1e-5;

/** The share of faults that every worker is taken to have at least: a few good jobs do not prove that a peer never fails. */
const minPeerShare = 0.02;

/** A worker that serves some jobs stands out when this share is faults, of this many, while its peers' share is as low. */
const sick = { share: 0.5, weight: 10, peerShare: 0.1 };

/** A worker is slow when its first tokens take this many times longer than its peers', and this many milliseconds more. */
const slow = { times: 5, ms: 1_000, firstTokens: 3 };

/** Whether so many of a worker's jobs have this fault that it is to be compared with its peers. */
export function isSuspect(average: OutcomeAverage, fault: Fault, now: number): boolean {
  return (
    average.row(fault) >= minRow || (average.share(fault, now) >= sick.share && average.weight(now) >= sick.weight)
  );
}

/**
 * Whether a worker has faults where its peers have none: as many in a row as a peer has less than once in 100,000 times, or in
 * more than half of its jobs.
 */
export function standsOut(worker: LiveWorker, model: string, fault: Fault, now: number): boolean {
  const average = worker.health.find(model)?.outcomes;
  if (!average) return false;
  const shares = peersOf(worker, model, (peer) => (peer.weight(now) >= 1 ? peer.share(fault, now) : undefined));
  const peerShare = quantile(shares, 0.25);
  if (peerShare === undefined) return false;
  const row = average.row(fault);
  if (row >= minRow && Math.max(peerShare, minPeerShare) ** row <= maxChance) return true;
  return isSuspect(average, fault, now) && average.share(fault, now) >= sick.share && peerShare <= sick.peerShare;
}

/**
 * Whether a time to the first token is far beyond those of a worker's peers.
 * @param ms undefined where none is known
 */
export function isSlow(worker: LiveWorker, model: string, ms: number | undefined, now: number): boolean {
  if (ms === undefined || ms < slow.ms) return false;
  const times = peersOf(worker, model, (peer) => (peer.firstTokens(now) >= 1 ? peer.firstTokenMs : undefined));
  const median = quantile(times, 0.5);
  return median !== undefined && ms >= median * slow.times && ms >= median + slow.ms;
}

/** Whether a worker has had enough first tokens for a comparison. */
export function hasFirstTokens(average: OutcomeAverage, now: number): boolean {
  return average.firstTokens(now) >= slow.firstTokens;
}

/** A value of each other worker of the pool that is not ejected with the model, where it has one. */
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

/** The value that this part of the values, rounded down, is below; in a few the lowest. */
function quantile(values: number[], part: number): number | undefined {
  return values.sort((a, b) => a - b)[Math.floor((values.length - 1) * part)];
}
