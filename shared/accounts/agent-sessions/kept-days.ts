import { beginningOf, periodName } from '../periods.ts';

const dayMs = 86_400_000;

/** The days of UTC that end less than so many milliseconds ago, newest first, as `2026-11-21`. */
export function keptDays(keptMs: number, now = Date.now()): string[] {
  const names: string[] = [];
  for (let day = beginningOf('day', now); day + dayMs > now - keptMs; day -= dayMs) names.push(periodName('day', day));
  return names;
}
