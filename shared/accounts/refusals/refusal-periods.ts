import { beginningOf, nextBeginning, periodName } from '../periods.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The steps of a report. Counts are kept by hour and by day of UTC; those of a month are the sums of its days. */
export const refusalSteps = ['hour', 'day', 'month'] as const;
export type RefusalStep = (typeof refusalSteps)[number];

/** A length of time that counts are kept by. */
export type CountedStep = 'hour' | 'day';

/** Milliseconds for which counts are kept after their period has begun. */
export const refusalsKeptMs: Record<CountedStep, number> = { hour: 8 * dayMs, day: 90 * dayMs };

/** The beginning of the period of a step that a time is in, both in ms since 1970. */
export function beginningOfStep(step: RefusalStep, at: number): number {
  return step === 'hour' ? Math.floor(at / hourMs) * hourMs : beginningOf(step, at);
}

/** The beginning of the period after the one that a time is in. */
export function nextStep(step: RefusalStep, at: number): number {
  return step === 'hour' ? beginningOfStep('hour', at) + hourMs : nextBeginning(step, at);
}

/** The name of a period with counts: `2026-11-21T07`, `2026-11-21`. */
export function countedPeriod(step: CountedStep, beginning: number): string {
  return step === 'hour' ? new Date(beginning).toISOString().slice(0, 13) : periodName('day', beginning);
}
