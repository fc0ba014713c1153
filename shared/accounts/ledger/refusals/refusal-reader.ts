import type { Redis } from 'ioredis';
import { maySee, type UsageViewer } from '../usage-record.ts';
import { findNextBeginning, listBeginnings } from '../../periods.ts';
import { callRedis } from '#shared/store/redis/call-redis.ts';
import { readStored, warnUnreadable, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';
import { countedPeriodName, refusalsKeptMs, type RefusalStep } from './refusal-counts.ts';
import { decodeRefusalRow, encodeRefusalRow, type RefusalRow } from './refusal-row.ts';
import { refusalSampleSchema, sampleStreams, type RefusalSample } from './refusal-sample.ts';

const entrySchema = createStoredSchema(refusalSampleSchema);

export const refusalGroups = ['code', 'key', 'team', 'user'] as const;
export type RefusalGroup = (typeof refusalGroups)[number];

export type CountedRow = RefusalRow & { count: number };

export type RefusalFilter = Partial<Record<RefusalGroup, string | undefined>>;

export interface RefusalQuery {
  viewer: UsageViewer;
  /** Beginning of the reported time, in ms since 1970, rounded down to a whole step. */
  from: number;
  /** End of the reported time, in ms since 1970, rounded up to a whole step. */
  to: number;
  step: RefusalStep;
  by: RefusalGroup;
  filter: RefusalFilter;
}

/** Counts by group, largest first. `steps` has one count for each of `times`. `rows` are the parts of a group, largest first. */
export interface RefusalReport {
  times: number[];
  groups: { id: string; count: number; steps: number[]; rows: CountedRow[] }[];
  total: number;
}

/** Reads the counts and samples of a RefusalLedger. Every method throws RouterError `store_unavailable` while Redis is unavailable. */
export class RefusalReader {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #report: ReportUnreadable;

  constructor(redis: Redis, prefix: string, report: ReportUnreadable = warnUnreadable) {
    this.#redis = redis;
    this.#prefix = `${prefix}usage:refusals:`;
    this.#report = report;
  }

  async readReport({ viewer, from, to, step, by, filter }: RefusalQuery): Promise<RefusalReport> {
    const times = listBeginnings(step, from, to);
    const groups = new Map<string, { steps: number[]; rows: Map<string, CountedRow> }>();
    for (const [index, time] of times.entries()) {
      for (const row of await this.#readStep(step, time)) {
        if (!maySee(viewer, row) || !matches(row, filter)) continue;
        const id = row[by];
        let group = groups.get(id);
        if (!group) groups.set(id, (group = { steps: times.map(() => 0), rows: new Map() }));
        group.steps[index] = (group.steps[index] ?? 0) + row.count;
        const name = encodeRefusalRow(row);
        const sum = group.rows.get(name);
        if (sum) sum.count += row.count;
        else group.rows.set(name, { ...row });
      }
    }
    const countedGroups = Array.from(groups, ([id, { steps, rows }]) => ({
      id,
      count: steps.reduce((sum, count) => sum + count, 0),
      steps,
      rows: [...rows.values()].sort((a, b) => b.count - a.count),
    })).sort((a, b) => b.count - a.count);
    return { times, groups: countedGroups, total: countedGroups.reduce((sum, { count }) => sum + count, 0) };
  }

  /** Returns the stored samples from `from` (inclusive) to `to` (exclusive), newest first. */
  async listSamples({ viewer, from, to, filter }: Omit<RefusalQuery, 'step' | 'by'>): Promise<RefusalSample[]> {
    const samples: RefusalSample[] = [];
    for (const stream of Object.keys(sampleStreams)) {
      for (const [id, [, text]] of await callRedis(this.#redis.xrevrange(this.#prefix + stream, '+', '-'))) {
        const read = readStored(entrySchema, text);
        if (!('value' in read)) {
          this.#report(`refusal ${id}`, read.reason);
          continue;
        }
        const sample = read.value;
        const row = toSampleRow(sample);
        if (sample.at >= from && sample.at < to && maySee(viewer, row) && matches(row, filter)) samples.push(sample);
      }
    }
    return samples.sort((a, b) => b.at - a.at);
  }

  /** Returns the counts of one step. Counts that are too old to be kept are left out. */
  async #readStep(step: RefusalStep, beginning: number): Promise<CountedRow[]> {
    const countedStep = step === 'hour' ? 'hour' : 'day';
    const rows: CountedRow[] = [];
    for (const time of listBeginnings(countedStep, beginning, findNextBeginning(step, beginning))) {
      const now = Date.now();
      if (time > now || time + refusalsKeptMs[countedStep] <= now) continue;
      const fields = await callRedis(this.#redis.hgetall(this.#prefix + countedPeriodName(countedStep, time)));
      for (const [text, count] of Object.entries(fields)) {
        const row = decodeRefusalRow(text);
        if (row) rows.push({ ...row, count: Number(count) || 0 });
      }
    }
    return rows;
  }
}

function toSampleRow({ code, key = '', owner }: RefusalSample): RefusalRow {
  const user = owner?.kind === 'user' ? owner.id : '';
  return { code, key, user, team: owner?.kind === 'team' ? owner.id : '' };
}

function matches(row: RefusalRow, filter: RefusalFilter): boolean {
  return refusalGroups.every((name) => filter[name] === undefined || filter[name] === row[name]);
}
