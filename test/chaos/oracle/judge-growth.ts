import { readdirSync, readFileSync } from 'node:fs';
import { quantile } from '../../bench/report/quantile.ts';
import type { ChaosCluster } from '../cluster/chaos-cluster.ts';
import type { Violation } from './violation.ts';

/** Memory and handles of a process. */
export interface Footprint {
  name: string;
  pid: number;
  /** Time of `performance.now()`. */
  at: number;
  /** Resident memory in MiB. */
  memory: number;
  /** Open file descriptors. */
  handles: number;
}

/** Growth that a run may leave behind: memory that Node has not returned yet, connections that are kept open. */
const leftover = { factor: 2, memory: 64, handles: 40 };

/** Growth of a process's usual footprint from one minute to another, later one: it has been warm for long. */
const creep = { factor: 1.25, memory: 16, handles: 15 };

/** Milliseconds after which a process has loaded everything for its work. */
const warmMs = 10_000;

/** Usual milliseconds that a process must have run to be judged for slow growth. */
const usuallyLongMs = 240_000;

/**
 * Reads the footprint of every ingress, worker and batch runner. Empty where `/proc` does not report it.
 * @param others further processes
 */
export function footprints(
  { ingresses, workers, runners }: ChaosCluster,
  others: readonly { name: string; pid: number | undefined }[] = [],
): Footprint[] {
  if (process.platform !== 'linux') return [];
  const at = performance.now();
  const parts = [...ingresses, ...workers, ...runners].map(({ part }) => ({ name: part.name, pid: part.pid() }));
  return [...parts, ...others].flatMap(({ name, pid }) => {
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const memory = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
      return [{ name, pid: pid ?? 0, at, memory, handles: readdirSync(`/proc/${pid}/fd`).length }];
    } catch {
      // It has just been killed.
      return [];
    }
  });
}

/**
 * Checks that processes which run at the end hold about as much as when they were warm, and that the footprint of processes which run for
 * minutes does not grow.
 * @param seen all footprints of a run, in the order of time
 * @param longMs milliseconds that a process must have run to be judged for slow growth
 */
export function judgeGrowth(seen: readonly Footprint[], longMs = usuallyLongMs): Violation[] {
  const end = seen.at(-1)?.at;
  return [...Map.groupBy(seen, ({ pid }) => pid).values()].flatMap((all) => {
    const [first, last] = [all[0], all.at(-1)];
    if (!first || !last || last.at !== end) return [];
    const warm = all.find(({ at }) => at >= first.at + warmMs);
    // It has not loaded everything yet.
    if (!warm) return [];
    const found = compare(warm, last, leftover);
    const span = last.at - warm.at;
    if (span < longMs) return found;
    const quarter = (from: number): Footprint[] =>
      all.filter(({ at }) => at >= warm.at + span * from && at <= warm.at + span * (from + 0.25));
    return [...found, ...compare(usual(quarter(0.25)), usual(quarter(0.75)), creep)];
  });
}

/** Returns the medians of footprints of one process. */
function usual(list: readonly Footprint[]): Pick<Footprint, 'name' | 'memory' | 'handles'> {
  const median = (of: 'memory' | 'handles'): number => {
    const sorted = list.map((one) => one[of]).toSorted((one, other) => one - other);
    return quantile(sorted, 0.5);
  };
  return { name: list[0]?.name ?? '', memory: median('memory'), handles: median('handles') };
}

function compare(
  before: Pick<Footprint, 'name' | 'memory' | 'handles'>,
  now: Pick<Footprint, 'memory' | 'handles'>,
  most: typeof leftover,
): Violation[] {
  const details: string[] = [];
  if (now.memory > before.memory * most.factor + most.memory)
    details.push(`${Math.round(now.memory)} MiB after ${Math.round(before.memory)} MiB`);
  if (now.handles > before.handles + most.handles) details.push(`${now.handles} handles after ${before.handles}`);
  return details.map((detail) => ({ rule: 'leftover', id: before.name, detail }));
}
