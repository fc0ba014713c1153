import type { ErrorCode } from '#shared/core/errors.ts';
import { findBeginning } from '../periods.ts';
import { countedPeriodName, refusalsKeptMs, type CountedStep } from './refusal-periods.ts';
import { encodeRefusalRow, overflowRefusalRow, toRefusalRow } from './refusal-row.ts';
import type { RefusedKey } from '../keys/invalid-key-error.ts';

/** Maximum of rows that are counted separately until they are written. The refusals of further keys are counted together by code. */
const maxRows = 1_000;

/** Maximum of rows in Redis for one hour, and for one day. */
const maxStoredRows: Record<CountedStep, number> = { hour: 1_000, day: 2_000 };

interface Count {
  /** The beginning of the hour, in ms since 1970. */
  hour: number;
  row: string;
  /** The row under which refusals are counted if there is no room for this row. */
  substitute: string;
  /** The key of the row, with its name. Absent for requests without a known key, and for the row of all keys without a row. */
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

/** Refusals that are not written yet, by hour, code and key. The number of rows is bounded, however many requests are refused. */
export class RefusalCounts {
  readonly #counts = new Map<string, Count>();

  get size(): number {
    return this.#counts.size;
  }

  add(code: ErrorCode, key: RefusedKey | undefined, at: number): void {
    const hour = findBeginning('hour', at);
    const substitute = encodeRefusalRow(overflowRefusalRow(code));
    const ownRow = { hour, row: encodeRefusalRow(toRefusalRow(code, key)), substitute };
    const count = key
      ? (this.#find({ ...ownRow, key: { id: key.id, name: key.name } }, maxRows) ??
        this.#find({ ...ownRow, row: substitute }, 2 * maxRows))
      : this.#find(ownRow, 2 * maxRows);
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
   * Returns the count of a row, and adds a count if there is none; undefined if there is no room. There are few rows without a key: one for
   * each code and hour, as long as Redis is unavailable.
   */
  #find(row: Omit<Count, 'count'>, most: number): Count | undefined {
    const name = `${row.hour} ${row.row}`;
    let count = this.#counts.get(name);
    if (!count && this.#counts.size < most) this.#counts.set(name, (count = { ...row, count: 0 }));
    return count;
  }
}
