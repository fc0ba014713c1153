import type { ErrorCode } from '#shared/core/errors.ts';
import { findBeginning } from '../periods.ts';
import { countedPeriod, refusalsKeptMs, type CountedStep } from './refusal-periods.ts';
import { encodeRefusalRow, overflowRefusalRow, toRefusalRow } from './refusal-row.ts';
import type { RefusedKey } from '../keys/invalid-key-error.ts';

/** Maximum of rows that are counted separately before they are written. Further ones of a code are counted together. */
const maxRows = 1_000;

/** Maximum of rows in Redis of one hour, and of one day. */
const maxRowsStored: Record<CountedStep, number> = { hour: 1_000, day: 2_000 };

interface Count {
  /** The beginning of the hour, in ms since 1970. */
  hour: number;
  row: string;
  /** The row to count under if there is no room for this one. */
  substitute: string;
  /** The key of the row, with its name; absent for requests without a known key, and for a row that stands for others. */
  key?: { id: string; name: string };
  count: number;
}

/** The counts of one hour or day, as the script takes them. */
export interface CountedPeriod {
  name: string;
  /** ms since 1970 */
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
    const own = { hour, row: encodeRefusalRow(toRefusalRow(code, key)), substitute };
    const count = key
      ? (this.#find({ ...own, key: { id: key.id, name: key.name } }, maxRows) ??
        this.#find({ ...own, row: substitute }, 2 * maxRows))
      : this.#find(own, 2 * maxRows);
    if (count) count.count += 1;
  }

  periods(): CountedPeriod[] {
    const periods = new Map<string, CountedPeriod>();
    for (const { hour, ...row } of this.#counts.values()) {
      for (const step of ['hour', 'day'] as const) {
        const beginning = findBeginning(step, hour);
        const name = countedPeriod(step, beginning);
        let period = periods.get(name);
        if (!period) {
          const expiresAt = beginning + refusalsKeptMs[step];
          periods.set(name, (period = { name, expiresAt, maxRows: maxRowsStored[step], rows: [] }));
        }
        period.rows.push(row);
      }
    }
    return [...periods.values()];
  }

  /** Undefined if there is no room. Rows without a key are few: one of each code and hour, for as long as Redis is away. */
  #find(row: Omit<Count, 'count'>, most: number): Count | undefined {
    const name = `${row.hour} ${row.row}`;
    let count = this.#counts.get(name);
    if (!count && this.#counts.size < most) this.#counts.set(name, (count = { ...row, count: 0 }));
    return count;
  }
}
