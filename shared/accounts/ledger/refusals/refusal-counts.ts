import type { ErrorCode } from '#shared/core/errors.ts';
import { findBeginning, toPeriodName } from '../../periods.ts';
import { encodeRefusalRow, toOverflowRefusalRow, toRefusalRow } from './refusal-row.ts';
import type { RefusedKey } from '../../keys/invalid-key-error.ts';

/** Maximum of rows in memory for separate keys. The refusals of further keys are counted together, by code. */
const maxRows = 1_000;

/** Maximum of rows in Redis for an hour, and for a day. */
const maxStoredRows: Record<CountedStep, number> = { hour: 1_000, day: 2_000 };

interface Count {
  /** The beginning of the hour, in ms since 1970. */
  hour: number;
  row: string;
  /** The row that is counted instead if there is no room for this row. */
  substitute: string;
  /** The key of the row. Absent in the row for requests without a known key, and in the row for all further keys. */
  key?: { id: string; name: string };
  count: number;
}

/** The counts of one hour or day, in the form for the script. */
export interface CountedPeriod {
  name: string;
  /** In ms since 1970. */
  expiresAt: number;
  maxRows: number;
  rows: Omit<Count, 'hour'>[];
}

/** Counts the refusals that are not written yet, by hour, code and key. The number of rows is bounded. */
export class RefusalCounts {
  readonly #counts = new Map<string, Count>();

  get size(): number {
    return this.#counts.size;
  }

  add(code: ErrorCode, key: RefusedKey | undefined, at: number): void {
    const hour = findBeginning('hour', at);
    const substitute = encodeRefusalRow(toOverflowRefusalRow(code));
    const ownRow = { hour, row: encodeRefusalRow(toRefusalRow(code, key)), substitute };
    const count = key
      ? (this.#findOrAdd({ ...ownRow, key: { id: key.id, name: key.name } }, maxRows) ??
        this.#findOrAdd({ ...ownRow, row: substitute }, 2 * maxRows))
      : this.#findOrAdd(ownRow, 2 * maxRows);
    if (count) count.count += 1;
  }

  toPeriods(): CountedPeriod[] {
    const periods = new Map<string, CountedPeriod>();
    for (const { hour, ...row } of this.#counts.values()) {
      for (const step of ['hour', 'day'] as const) {
        const beginning = findBeginning(step, hour);
        const name = countedPeriodName(step, beginning);
        let period = periods.get(name);
        if (!period) {
          const expiresAt = beginning + refusalsKeptMs[step];
          periods.set(name, (period = { name, expiresAt, maxRows: maxStoredRows[step], rows: [] }));
        }
        period.rows.push(row);
      }
    }
    return [...periods.values()];
  }

  /**
   * Returns the count of a row. Adds a missing count if there are fewer than `maxCounts` counts, else returns undefined. Rows without a key
   * have a higher maximum, because they are few: one for each code in each hour in which Redis is unavailable.
   */
  #findOrAdd(row: Omit<Count, 'count'>, maxCounts: number): Count | undefined {
    const name = `${row.hour} ${row.row}`;
    let count = this.#counts.get(name);
    if (!count && this.#counts.size < maxCounts) this.#counts.set(name, (count = { ...row, count: 0 }));
    return count;
  }
}

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
