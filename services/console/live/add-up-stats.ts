import { firstTokenBoundsMs, type IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { computePercentiles } from '#shared/core/metrics/latency-classes.ts';
import type { Tier } from '#shared/core/tier.ts';
import type { Overview, QueuedLane, RefusalCounts } from '../contract/live.ts';

/** The number of seconds that an overview covers. */
const seconds = 60;

/**
 * Adds up the stats of all dispatching processes. The series are aligned at their ends. The last value of a series counts the second before
 * its process sent the stats. The stats are at most a few seconds old, so the clocks of the processes need not agree.
 */
export function addUpOverview(stats: readonly IngressStats[]): Overview {
  const firstTokenMs = addUpPercentiles(stats.map(({ firstToken }) => firstToken));
  return {
    requestsPerSecond: addSeries(stats.map(({ requests }) => requests)),
    tokensPerSecond: addSeries(stats.map(({ tokens }) => tokens)),
    errorsPerSecond: addSeries(stats.map(({ errors }) => errors)),
    ...(firstTokenMs ? { firstTokenMs } : {}),
    activeStreams: stats.reduce((sum, { activeStreams }) => sum + activeStreams, 0),
    servedByTier: addByTier(stats.map(({ servedByTier }) => servedByTier)),
    waiting: stats.reduce((sum, { waiting }) => sum + waiting, 0),
    queuedByTier: addByTier(stats.map(({ waitingByTier }) => waitingByTier)),
  };
}

/** Returns the waiting requests of all dispatching processes, by lane. Requests that no worker can serve right now have no pool. */
export function addUpQueue(stats: readonly IngressStats[]): QueuedLane[] {
  const lanes = new Map<string, QueuedLane>();
  const allLanes: QueuedLane[] = stats.flatMap(({ lanes: placed, unplaced }) => [...placed, ...unplaced]);
  for (const lane of allLanes) {
    const name = `${lane.tier}.${lane.pool ?? ''}.${lane.class}`;
    lanes.set(name, { ...lane, waiting: lane.waiting + (lanes.get(name)?.waiting ?? 0) });
  }
  return [...lanes.values()].sort((a, b) => b.waiting - a.waiting);
}

/**
 * Returns the numbers of refused requests of all dispatching processes, by error code. The most frequent code of the last hour comes first.
 */
export function addUpRefusals(stats: readonly IngressStats[]): RefusalCounts[] {
  const sums = new Map<string, RefusalCounts>();
  for (const { code, minute, hour } of stats.flatMap(({ refused }) => refused)) {
    const sum = sums.get(code) ?? { code, minute: 0, hour: 0 };
    sums.set(code, { code, minute: sum.minute + minute, hour: sum.hour + hour });
  }
  return [...sums.values()].sort((a, b) => b.hour - a.hour || a.code.localeCompare(b.code));
}

function addSeries(series: readonly (readonly number[])[]): number[] {
  return Array.from({ length: seconds }, (_, index) =>
    series.reduce((sum, values) => sum + (values.at(index - seconds) ?? 0), 0),
  );
}

function addByTier(counts: readonly Partial<Record<Tier, number>>[]): Partial<Record<Tier, number>> {
  const sums: Partial<Record<Tier, number>> = {};
  for (const count of counts) {
    for (const [tier, value] of Object.entries(count) as [Tier, number][]) sums[tier] = (sums[tier] ?? 0) + value;
  }
  return sums;
}

function addUpPercentiles(counts: readonly (readonly number[])[]): Overview['firstTokenMs'] {
  return computePercentiles(
    Array.from({ length: firstTokenBoundsMs.length + 1 }, (_, index) =>
      counts.reduce((sum, each) => sum + (each[index] ?? 0), 0),
    ),
  );
}
