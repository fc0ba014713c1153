const dayMs = 86_400_000;

/** The two lengths of time for which totals are kept. */
export type Step = 'day' | 'month';

/** How long totals are kept after their period: days for 400 days, months for ten years. */
const keptMs: Record<Step, number> = { day: 400 * dayMs, month: 3_653 * dayMs };

/** The beginning of the day or month of UTC that a time is in, both in ms since 1970. */
export function beginningOf(step: Step, at: number): number {
  if (step === 'day') return Math.floor(at / dayMs) * dayMs;
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

/** The beginning of the period after the one that a time is in. */
export function nextBeginning(step: Step, at: number): number {
  if (step === 'day') return beginningOf('day', at) + dayMs;
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** A period's name: `2026-11-21`, `2026-11`. */
export function periodName(step: Step, beginning: number): string {
  return new Date(beginning).toISOString().slice(0, step === 'day' ? 10 : 7);
}

/** When a period's totals are forgotten, in ms since 1970. */
export function expiryOf(step: Step, beginning: number): number {
  return beginning + keptMs[step];
}
