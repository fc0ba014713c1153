const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** The units by which the usage ledger keeps totals. */
export type TotalsUnit = 'day' | 'month';

export type PeriodUnit = 'minutes' | 'hour' | TotalsUnit;

/** The lengths, in milliseconds, of the units that have a fixed length. `minutes` are five minutes. */
export const unitMs = { minutes: hourMs / 12, hour: hourMs, day: dayMs } as const;

/** A period of whole units: from the beginning of the first unit to the end of the last unit, both in ms since 1970. */
export interface Period {
  from: number;
  to: number;
}

/** The periods that can be chosen by name wherever usage is shown. A period has `count` units and ends with the current unit. */
export const namedPeriods = {
  '1h': { unit: 'minutes', count: 12 },
  '24h': { unit: 'hour', count: 24 },
  '1d': { unit: 'day', count: 1 },
  '7d': { unit: 'day', count: 7 },
  '30d': { unit: 'day', count: 30 },
  '90d': { unit: 'day', count: 90 },
  '1y': { unit: 'month', count: 12 },
} as const satisfies Record<string, { unit: PeriodUnit; count: number }>;
export type NamedPeriod = keyof typeof namedPeriods;

/** Returns a named period at a time in ms since 1970. */
export function computeNamedPeriod(name: NamedPeriod, now: number): Period {
  const { unit, count } = namedPeriods[name];
  return computeLastUnits(unit, count, now);
}

/**
 * Returns the period of the unit that contains a time and the units before it.
 * @param count how many units the period has
 */
export function computeLastUnits(unit: PeriodUnit, count: number, now: number): Period {
  const to = findNextBeginning(unit, now);
  if (unit !== 'month') return { from: to - count * unitMs[unit], to };
  const date = new Date(to);
  return { from: Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - count, 1), to };
}

/**
 * Returns the beginnings of the units that overlap a time span, oldest first.
 * @param to exclusive; all times in ms since 1970
 */
export function listBeginnings(unit: PeriodUnit, from: number, to: number): number[] {
  const times: number[] = [];
  for (let time = findBeginning(unit, from); time < to; time = findNextBeginning(unit, time)) times.push(time);
  return times;
}

/** Returns the shortest period of whole units that contains a time span. */
export function widenToUnits(unit: PeriodUnit, { from, to }: Period): Period {
  return { from: findBeginning(unit, from), to: findNextBeginning(unit, to - 1) };
}

/** Milliseconds after the beginning of a period until its totals expire: 400 days for a day, ten years for a month. */
export const totalsKeptMs: Readonly<Record<TotalsUnit, number>> = { day: 400 * dayMs, month: 3_653 * dayMs };

/** Returns the beginning of the unit that contains a time, both in ms since 1970. */
export function findBeginning(unit: PeriodUnit, at: number): number {
  if (unit !== 'month') return Math.floor(at / unitMs[unit]) * unitMs[unit];
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

/** Returns the beginning of the next unit after the unit that contains a time. */
export function findNextBeginning(unit: PeriodUnit, at: number): number {
  if (unit !== 'month') return findBeginning(unit, at) + unitMs[unit];
  const date = new Date(at);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** Returns the name of a day or month, such as `2026-11-21` or `2026-11`. */
export function toPeriodName(unit: TotalsUnit, beginning: number): string {
  return new Date(beginning).toISOString().slice(0, unit === 'day' ? 10 : 7);
}

/** Returns when a period's totals expire, in ms since 1970. */
export function computeExpiry(unit: TotalsUnit, beginning: number): number {
  return beginning + totalsKeptMs[unit];
}
