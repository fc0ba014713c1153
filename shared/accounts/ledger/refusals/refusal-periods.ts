import { toPeriodName } from '../../periods.ts';

const dayMs = 86_400_000;

/** The steps of a report. Counts are stored by hour and by UTC day. The count of a month is the sum of the counts of its days. */
export const refusalSteps = ['hour', 'day', 'month'] as const;
export type RefusalStep = (typeof refusalSteps)[number];

export type CountedStep = 'hour' | 'day';

/** Milliseconds after the beginning of a period until its counts expire. */
export const refusalsKeptMs: Record<CountedStep, number> = { hour: 8 * dayMs, day: 90 * dayMs };

/** Returns the name of a period with counts, such as `2026-11-21T07` or `2026-11-21`. */
export function countedPeriodName(step: CountedStep, beginning: number): string {
  return step === 'hour' ? new Date(beginning).toISOString().slice(0, 13) : toPeriodName('day', beginning);
}
