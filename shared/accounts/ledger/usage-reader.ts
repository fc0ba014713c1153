import type { Redis } from 'ioredis';
import { callRedis, callRedisAll } from '#shared/store/redis/call-redis.ts';
import { readStored, warnUnreadable, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';
import { toPeriodName, listBeginnings, type TotalsUnit } from '../periods.ts';
import { readHourGroups, type HourGroup, type HourQuery } from './hour-groups.ts';
import { findEntryIds } from './request-index.ts';
import { readSpan, type SpanSums, type UsageSpan } from './span-reader.ts';
import {
  addTotals,
  countLetters,
  countNames,
  decodeRow,
  createZeroTotals,
  type TotalsRow,
  type UsageTotals,
} from './totals.ts';
import { matchesRow, mayMatch, matchesFilter, type RowFilter, type UsageGroup } from './usage-filter.ts';
import { maySee, usageRecordSchema, type UsageFilter, type UsageRecord, type UsageViewer } from './usage-record.ts';

const entrySchema = createStoredSchema(usageRecordSchema);

const pageSize = 500;

/** Fields that Redis scans in one step of reading totals. */
const fieldsAtOnce = 1_000;

/**
 * Maximum number of entries that are read for one page of requests. If few of these entries match the filter, the page has fewer requests
 * than `limit`.
 */
const maxEntriesRead = 50_000;

/** Milliseconds after the beginning of a read until it ends, even if the page has fewer requests than its limit. */
const maxReadMs = 400;

/** Maximum milliseconds from the beginning of a request until it is written. */
const maxRequestMs = 86_400_000;

/** Maximum difference between the clocks of a node and of Redis, in milliseconds. */
const maxClockSkewMs = 300_000;

export interface ReportQuery {
  viewer: UsageViewer;
  /** Beginning of the reported time, in ms since 1970. Beginning and end are rounded outwards to whole steps. */
  from: number;
  to: number;
  step: TotalsUnit;
  by: UsageGroup;
  filter: RowFilter;
}

export interface RequestPage {
  requests: UsageRecord[];
  /** The cursor of each request. */
  cursors: string[];
  /** The cursor of the next page; absent on the last page. */
  next?: string;
  /**
   * The cursor of the newest request, even if the viewer may not see that request. Equals `after` if no newer request was read. Absent if
   * the query has `before` but no `after`.
   */
  newest?: string;
}

/** Totals by group. The most expensive group comes first. `steps` has one entry for each entry of `times`. */
export interface LedgerReport {
  times: number[];
  groups: { id: string; totals: UsageTotals; steps: UsageTotals[] }[];
  totals: UsageTotals;
}

/** Reads the ledger that a UsageLedger writes. Every method throws RouterError `store_unavailable` while Redis is unavailable. */
export class UsageReader {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #report: ReportUnreadable;

  constructor(redis: Redis, prefix: string, report: ReportUnreadable = warnUnreadable) {
    this.#redis = redis;
    this.#report = report;
    this.#prefix = `${prefix}usage:`;
  }

  /** Returns the totals of requests by day or month and by group. */
  async readReport({ viewer, from, to, step, by, filter }: ReportQuery): Promise<LedgerReport> {
    const times = listBeginnings(step, from, to);
    const groups = new Map<string, LedgerReport['groups'][number]>();
    const totals = createZeroTotals();
    for (const [index, time] of times.entries()) {
      for (const [row, counts] of await this.#readPeriod(toPeriodName(step, time))) {
        if (!maySee(viewer, row) || !matchesRow(row, filter)) continue;
        const id = row[by];
        let group = groups.get(id);
        if (!group) groups.set(id, (group = { id, totals: createZeroTotals(), steps: times.map(createZeroTotals) }));
        const stepTotals = group.steps[index];
        if (stepTotals) addTotals(stepTotals, counts);
        addTotals(group.totals, counts);
        addTotals(totals, counts);
      }
    }
    const compare = (a: UsageTotals, b: UsageTotals): number => b.cost - a.cost || b.requests - a.requests;
    return { times, totals, groups: [...groups.values()].sort((a, b) => compare(a.totals, b.totals)) };
  }

  /**
   * Returns single requests, newest first by the time of their end.
   * @param before the cursor of the next page, or of a request: returns only requests that ended before that position
   * @param after the cursor of a request: returns only requests that ended after that request
   */
  async listRequests(
    viewer: UsageViewer,
    filter: UsageFilter,
    limit: number,
    before?: string,
    after?: string,
  ): Promise<RequestPage> {
    const { from = 0, to = Infinity } = filter;
    const began = performance.now();
    const page: RequestPage = { requests: [], cursors: [], ...(after !== undefined && { newest: after }) };
    const latest = to + maxRequestMs < Date.now() ? String(to + maxRequestMs) : '+';
    const oldest = after === undefined ? String(Math.max(0, from - maxClockSkewMs)) : `(${after}`;
    let cursor = before;
    for (let entriesRead = 0; entriesRead < maxEntriesRead; entriesRead += pageSize) {
      if (performance.now() - began > maxReadMs) break;
      const start = cursor === undefined ? latest : `(${cursor}`;
      const entries = await callRedis(
        this.#redis.xrevrange(`${this.#prefix}requests`, start, oldest, 'COUNT', pageSize),
      );
      if (cursor === undefined && entries[0]) page.newest = entries[0][0];
      for (const [id, fields] of entries) {
        cursor = id;
        const record = mayMatch(fields[1] ?? '', viewer, filter) ? this.#readEntry(id, fields) : undefined;
        if (record && matchesFilter(record, viewer, filter)) {
          page.requests.push(record);
          page.cursors.push(id);
        }
        if (page.requests.length === limit) return { ...page, next: id };
      }
      if (entries.length < pageSize) return page;
    }
    return { ...page, ...(cursor !== undefined && { next: cursor }) };
  }

  /**
   * Returns the requests with an id that a viewer may see, newest first. There may be several, because clients may use an id again, and one
   * request may have several records.
   */
  async findById(viewer: UsageViewer, id: string): Promise<UsageRecord[]> {
    const commands = this.#redis.pipeline();
    for (const entry of await findEntryIds(this.#redis, this.#prefix, id))
      commands.xrange(`${this.#prefix}requests`, entry, entry);
    const replies = (await callRedisAll(commands)) as [string, string[]][][];
    return replies
      .flat()
      .sort(([a], [b]) => b.localeCompare(a, 'en', { numeric: true }))
      .flatMap(([entry, fields]) => this.#readEntry(entry, fields) ?? [])
      .filter((record) => record.id === id && matchesFilter(record, viewer, {}));
  }

  readOverview(viewer: UsageViewer, span: UsageSpan, max: number): Promise<SpanSums> {
    return readSpan(this.#redis, this.#prefix, viewer, span, max);
  }

  readHours(query: HourQuery): Promise<{ times: number[]; groups: HourGroup[] }> {
    return readHourGroups(this.#redis, this.#prefix, query);
  }

  /** Yields all single requests that began between two times, in the order in which they ended. */
  async *export(viewer: UsageViewer, filter: UsageFilter, from: number, to: number): AsyncGenerator<UsageRecord> {
    let start = String(Math.max(0, from - maxClockSkewMs));
    for (;;) {
      const entries = await callRedis(this.#redis.xrange(`${this.#prefix}requests`, start, '+', 'COUNT', pageSize));
      for (const [id, fields] of entries) {
        start = `(${id}`;
        const record = mayMatch(fields[1] ?? '', viewer, filter) ? this.#readEntry(id, fields) : undefined;
        if (record && matchesFilter(record, viewer, { ...filter, from, to })) yield record;
      }
      if (entries.length < pageSize) return;
    }
  }

  /** Returns the stream id of the single request that was written last; undefined if there is none. */
  async findNewest(): Promise<string | undefined> {
    const [entry] = await callRedis(this.#redis.xrevrange(`${this.#prefix}requests`, '+', '-', 'COUNT', 1));
    return entry?.[0];
  }

  /** Returns the names that keys had when they were last used, by id. */
  async readKeyNames(ids: readonly string[]): Promise<Map<string, string>> {
    if (ids.length === 0) return new Map();
    const names = await callRedis(this.#redis.hmget(`${this.#prefix}key-names`, ...ids));
    return new Map(ids.flatMap((id, index) => (names[index] ? [[id, names[index]]] : [])));
  }

  /** Parses the request of an entry; undefined if this release cannot read it. */
  #readEntry(id: string, [, text]: string[]): UsageRecord | undefined {
    const read = readStored(entrySchema, text);
    if ('value' in read) return read.value;
    this.#report(`request ${id}`, read.reason);
    return undefined;
  }

  /** Reads the totals of a period in pieces, so that no other client of Redis waits for long. */
  async #readPeriod(period: string): Promise<[TotalsRow, UsageTotals][]> {
    const fields = new Map<string, string>();
    let cursor = '0';
    do {
      const [next, page] = await callRedis(
        this.#redis.hscan(`${this.#prefix}${period}`, cursor, 'COUNT', fieldsAtOnce),
      );
      // HSCAN may return the same field more than once.
      for (let index = 0; index < page.length; index += 2) fields.set(page[index] ?? '', page[index + 1] ?? '0');
      cursor = next;
    } while (cursor !== '0');
    const rows = new Set([...fields.keys()].map((field) => field.slice(1)));
    return [...rows].flatMap((text): [TotalsRow, UsageTotals][] => {
      const row = decodeRow(text);
      if (!row) return [];
      const counts = createZeroTotals();
      for (const name of countNames) counts[name] = Number(fields.get(countLetters[name] + text)) || 0;
      return [[row, counts]];
    });
  }
}
