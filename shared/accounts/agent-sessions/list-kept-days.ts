import { findBeginning, toPeriodName } from '../periods.ts';

const dayMs = 86_400_000;

/** Returns the current UTC day, such as `2026-11-21`, and the days that ended less than `keptMs` milliseconds ago, newest first. */
export function listKeptDays(keptMs: number, now = Date.now()): string[] {
  const names: string[] = [];
  for (let day = findBeginning('day', now); day + dayMs > now - keptMs; day -= dayMs)
    names.push(toPeriodName('day', day));
  return names;
}
