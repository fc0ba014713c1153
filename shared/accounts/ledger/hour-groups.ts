import type { Redis } from 'ioredis';
import { unitMs, listBeginnings } from '../periods.ts';
import { addEntityCounts, parseCounts, parseKeyField, createZeroEntityCounts, readSpanHashes } from './span-hashes.ts';
import { spansKeptMs, entityKinds, type EntityCount } from './span-sums.ts';
import type { UsageFilter, UsageViewer } from './usage-record.ts';

/**
 * The groupings of hourly sums. Only the sums of models and keys are stored. The sums of a team or person are added up from the sums of
 * their keys.
 */
export const hourGroups = ['model', 'key', 'team', 'user'] as const;
export type HourGroupName = (typeof hourGroups)[number];

/** Hours for which sums are kept. This is also the maximum number of hours in one query. */
export const maxHours = spansKeptMs.hour / unitMs.hour;

/** Sums of the requests of an hour. Cost in nano-dollars. */
export type HourSums = Record<EntityCount, number>;

/** A model, key, team or person, with the sums of its requests. `key`, `user` and `team` are the ids in the first row that was read. */
export interface HourGroup {
  id: string;
  key: string;
  user: string;
  team: string;
  totals: HourSums;
  /** The sums of each hour, in the order of `times`. */
  steps: HourSums[];
}

export interface HourQuery {
  viewer: Pick<UsageViewer, 'isAdmin' | 'userId' | 'teamIds'>;
  /**
   * Beginning of the queried time, in ms since 1970. Beginning and end are rounded outwards to whole hours. They may be at most `maxHours`
   * hours apart.
   */
  from: number;
  to: number;
  by: HourGroupName;
  /** Without effect if `by` is `model`, because the sums of a model include all keys. */
  filter: Pick<UsageFilter, 'key' | 'team' | 'user'>;
}

/**
 * Reads the sums of requests by hour and by group. The groups with the most requests come first. An administrator gets the sums of
 * everybody. Everybody else gets their own sums and the sums of their teams. Requests beyond the maximum number of rows of an hour are in
 * the group `other`.
 * @throws RouterError `store_unavailable` while Redis is unavailable
 */
export async function readHourGroups(
  redis: Redis,
  prefix: string,
  { viewer, from, to, by, filter }: HourQuery,
): Promise<{ times: number[]; groups: HourGroup[] }> {
  const times = listBeginnings('hour', from, to);
  const groups = new Map<string, HourGroup>();
  const toRow = by === 'model' ? toModelRow : (field: string) => toKeyRow(field, by, filter);
  await readSpanHashes(redis, prefix, { viewer, step: 'hour', times }, (fields, index) => {
    for (const [field, text] of Object.entries(fields)) {
      const row = toRow(field);
      const counts = row && parseCounts(text);
      if (!counts) continue;
      let group = groups.get(row.id);
      if (!group)
        groups.set(
          row.id,
          (group = { ...row, totals: createZeroEntityCounts(), steps: times.map(createZeroEntityCounts) }),
        );
      addEntityCounts(group.totals, counts);
      const step = group.steps[index];
      if (step) addEntityCounts(step, counts);
    }
  });
  return {
    times,
    groups: [...groups.values()].toSorted((a, b) => b.totals.requests - a.totals.requests || (a.id < b.id ? -1 : 1)),
  };
}

type Row = Pick<HourGroup, 'id' | 'key' | 'user' | 'team'>;

function toModelRow(field: string): Row | undefined {
  return field.startsWith(entityKinds.model) ? { id: field.slice(1), key: '', user: '', team: '' } : undefined;
}

function toKeyRow(field: string, by: 'key' | 'team' | 'user', filter: HourQuery['filter']): Row | undefined {
  const row = parseKeyField(field);
  const passes = (['key', 'team', 'user'] as const).every(
    (name) => filter[name] === undefined || filter[name] === row?.[name],
  );
  return row && passes ? { ...row, id: row[by] } : undefined;
}
