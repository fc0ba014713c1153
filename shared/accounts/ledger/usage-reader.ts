import type { Redis } from 'ioredis';
import { askRedis } from '../redis/ask-redis.ts';
import { readStored, warnOfUnreadable, type ReportUnreadable } from '../redis/stored-records.ts';
import { storedJson } from '../redis/stored-value.ts';
import { beginningOf, nextBeginning, periodName, type Step } from '../periods.ts';
import {
  addTotals,
  countLetters,
  countNames,
  decodeRow,
  noTotals,
  rowOf,
  type TotalsRow,
  type UsageTotals,
} from './totals.ts';
import { sees, usageRecordSchema, type UsageFilter, type UsageRecord, type UsageViewer } from './usage-record.ts';

const entrySchema = storedJson(usageRecordSchema);

/** Entries that are read from Redis at once. */
const pageSize = 500;

/** Fields that Redis looks at in one step of reading totals. */
const fieldsAtOnce = 1_000;

/** Entries that are looked at for one page of requests: with a filter that few pass, a page may come out short. */
const maxLookedAt = 10_000;

/** Nodes' clocks may differ from Redis' by this much. */
const clockSkewMs = 300_000;

/** What a report can be grouped by. */
export const usageGroups = ['model', 'key', 'team', 'user', 'tier', 'purpose'] as const;
export type UsageGroup = (typeof usageGroups)[number];

export interface ReportQuery {
  viewer: UsageViewer;
  /** In ms since 1970; rounded outwards to whole steps. */
  from: number;
  to: number;
  step: Step;
  by: UsageGroup;
  filter: RowFilter;
}

/** What totals can be narrowed to. The outcome is known of single requests only. */
type RowFilter = Omit<UsageFilter, 'outcome'>;

/** Totals by group, the dearest first. `steps` are those of each of `times`. */
export interface LedgerReport {
  times: number[];
  groups: { id: string; totals: UsageTotals; steps: UsageTotals[] }[];
  totals: UsageTotals;
}

/** Reads what a UsageLedger has written. Every method throws RouterError `store_unavailable` while Redis is away. */
export class UsageReader {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #report: ReportUnreadable;

  constructor(redis: Redis, prefix: string, report: ReportUnreadable = warnOfUnreadable) {
    this.#redis = redis;
    this.#report = report;
    this.#prefix = `${prefix}usage:`;
  }

  /** What requests came to, by day or month and by group. */
  async report({ viewer, from, to, step, by, filter }: ReportQuery): Promise<LedgerReport> {
    const times = stepsBetween(step, from, to);
    const groups = new Map<string, LedgerReport['groups'][number]>();
    const totals = noTotals();
    for (const [index, time] of times.entries()) {
      for (const [row, counts] of await this.#readPeriod(periodName(step, time))) {
        if (!sees(viewer, row) || !passes(row, filter)) continue;
        const id = row[by];
        let group = groups.get(id);
        if (!group) groups.set(id, (group = { id, totals: noTotals(), steps: times.map(noTotals) }));
        const at = group.steps[index];
        if (at) addTotals(at, counts);
        addTotals(group.totals, counts);
        addTotals(totals, counts);
      }
    }
    const order = (a: UsageTotals, b: UsageTotals): number => b.cost - a.cost || b.requests - a.requests;
    return { times, totals, groups: [...groups.values()].sort((a, b) => order(a.totals, b.totals)) };
  }

  /**
   * Single requests, newest first.
   * @param before the cursor of an earlier page
   * @returns `next` is the cursor of the page behind, absent when there is none
   */
  async requests(
    viewer: UsageViewer,
    filter: UsageFilter,
    limit: number,
    before?: string,
  ): Promise<{ requests: UsageRecord[]; next?: string }> {
    const found: UsageRecord[] = [];
    let cursor = before;
    for (let lookedAt = 0; lookedAt < maxLookedAt; lookedAt += pageSize) {
      const start = cursor === undefined ? '+' : `(${cursor}`;
      const entries = await askRedis(this.#redis.xrevrange(`${this.#prefix}requests`, start, '-', 'COUNT', pageSize));
      for (const [id, fields] of entries) {
        cursor = id;
        const record = this.#readEntry(id, fields);
        if (record && isWanted(record, viewer, filter)) found.push(record);
        if (found.length === limit) return { requests: found, next: id };
      }
      if (entries.length < pageSize) return { requests: found };
    }
    return { requests: found, ...(cursor !== undefined && { next: cursor }) };
  }

  /** All single requests that began between two times, in the order in which they ended. */
  async *export(viewer: UsageViewer, filter: UsageFilter, from: number, to: number): AsyncGenerator<UsageRecord> {
    let start = String(Math.max(0, from - clockSkewMs));
    for (;;) {
      const entries = await askRedis(this.#redis.xrange(`${this.#prefix}requests`, start, '+', 'COUNT', pageSize));
      for (const [id, fields] of entries) {
        start = `(${id}`;
        const record = this.#readEntry(id, fields);
        if (record && record.at >= from && record.at < to && isWanted(record, viewer, filter)) yield record;
      }
      if (entries.length < pageSize) return;
    }
  }

  /** Which single request was written down last, as a text that another one changes; undefined where there is none. */
  async newest(): Promise<string | undefined> {
    const [entry] = await askRedis(this.#redis.xrevrange(`${this.#prefix}requests`, '+', '-', 'COUNT', 1));
    return entry?.[0];
  }

  /** The names of keys when they were last used, by id. */
  async keyNames(ids: readonly string[]): Promise<Map<string, string>> {
    if (ids.length === 0) return new Map();
    const names = await askRedis(this.#redis.hmget(`${this.#prefix}key-names`, ...ids));
    return new Map(ids.flatMap((id, index) => (names[index] ? [[id, names[index]]] : [])));
  }

  /** The request of an entry; undefined for one that this release cannot read. */
  #readEntry(id: string, [, text]: string[]): UsageRecord | undefined {
    const read = readStored(entrySchema, text);
    if ('value' in read) return read.value;
    this.#report(`request ${id}`, read.reason);
    return undefined;
  }

  /** The totals of a period, read piece by piece so that nobody else waits for long. */
  async #readPeriod(period: string): Promise<[TotalsRow, UsageTotals][]> {
    const fields = new Map<string, string>();
    let cursor = '0';
    do {
      const [next, page] = await askRedis(this.#redis.hscan(`${this.#prefix}${period}`, cursor, 'COUNT', fieldsAtOnce));
      // The same field may come more than once.
      for (let index = 0; index < page.length; index += 2) fields.set(page[index] ?? '', page[index + 1] ?? '0');
      cursor = next;
    } while (cursor !== '0');
    const rows = new Set([...fields.keys()].map((field) => field.slice(1)));
    return [...rows].flatMap((text): [TotalsRow, UsageTotals][] => {
      const row = decodeRow(text);
      if (!row) return [];
      const counts = noTotals();
      for (const name of countNames) counts[name] = Number(fields.get(countLetters[name] + text)) || 0;
      return [[row, counts]];
    });
  }
}

function stepsBetween(step: Step, from: number, to: number): number[] {
  const times: number[] = [];
  for (let time = beginningOf(step, from); time < to; time = nextBeginning(step, time)) times.push(time);
  return times;
}

function passes(row: TotalsRow, filter: RowFilter): boolean {
  return usageGroups.every((name) => filter[name] === undefined || filter[name] === row[name]);
}

function isWanted(record: UsageRecord, viewer: UsageViewer, { outcome, ...filter }: UsageFilter): boolean {
  const row = rowOf(record);
  if (outcome !== undefined && outcome !== record.outcome) return false;
  return sees(viewer, row) && passes(row, filter);
}
