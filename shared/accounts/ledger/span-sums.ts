import { findLatencyClass } from '#shared/core/metrics/latency-classes.ts';
import { findBeginning } from '../periods.ts';
import { countNames, otherRow, toTotalsRow, computeTotals } from './totals.ts';
import type { UsageRecord, UsageViewer } from './usage-record.ts';

const hourMs = 3_600_000;

/**
 * The steps of the sums of the last hours and days: five minutes, or an hour. Each value is the milliseconds from the beginning of a step
 * until its sums expire.
 */
export const spansKeptMs = { minutes: 2 * hourMs, hour: 8 * 24 * hourMs } as const;
export type SpanStep = keyof typeof spansKeptMs;

/** The counts of each model, key and worker. */
export const entityCounts = ['requests', 'failed', 'promptTokens', 'completionTokens', 'cost'] as const;
export type EntityCount = (typeof entityCounts)[number];

/**
 * The kinds of entities: each model, each key and each worker is counted separately. The value is the first letter of the fields of that
 * kind.
 */
export const entityKinds = { model: 'm', key: 'k', worker: 'w' } as const;
export type EntityKind = keyof typeof entityKinds;

/** The first letters of the fields that count requests by latency class. The rest of the name is the latency class. */
export const timeLetters = { firstToken: 'T', total: 'E' } as const;

/** The field with the sums of all requests: one count for each of `countNames`. */
export const totalsField = 'a';

/** Maximum number of owners whose requests are counted separately in one period. */
export const maxSpanOwners = 1_000;

/**
 * Maximum number of fields in the sums of one period, for everybody and for one owner. All further models are counted together, and so are
 * all further keys and all further workers.
 */
export const maxSpanFields = { everybody: 1_000, owner: 100 } as const;

/** Returns the end of the name of a period's sums, after `usage:spans:`, such as `hour:2026-11-28T08` or `minutes:2026-11-28T08:45`. */
export function toSpanName(step: SpanStep, beginning: number): string {
  return `${step}:${new Date(beginning).toISOString().slice(0, step === 'hour' ? 13 : 16)}`;
}

/**
 * Lists the suffixes of the names of the sums that a viewer may see. An administrator sees the sums of everybody. Everybody else sees their
 * own sums and the sums of their teams.
 */
export function listOwnerSuffixes({
  isAdmin,
  userId,
  teamIds,
}: Pick<UsageViewer, 'isAdmin' | 'userId' | 'teamIds'>): string[] {
  return isAdmin ? [''] : [`:user:${userId}`, ...teamIds.map((id) => `:team:${id}`)];
}

/** Returns the owner of a request in the form for names in Redis, such as `user:0a1b`; empty for a request without an owner. */
export function toOwnerName({ owner }: Pick<UsageRecord, 'owner'>): string {
  return owner ? `${owner.kind}:${owner.id}` : '';
}

/** The amounts that the script adds to the sums of one owner in one period; to the sums of everybody if `owner` is empty. */
interface OwnerSums {
  owner: string;
  maxFields: number;
  /** The fields that count all requests together, each with the numbers to add to its counts. */
  overall: Record<string, number[]>;
  entities: Map<string, { row: string; substitute: string; counts: number[] }>;
}

interface Span {
  periods: { name: string; expiresAt: number }[];
  parts: Map<string, OwnerSums>;
}

/** Converts requests to the amounts that the script adds to the sums of the last hours. */
export function toSpanArgs(records: readonly UsageRecord[], now = Date.now()) {
  // Requests are grouped by five minutes, which determine the hour, too.
  const spans = new Map<number, Span>();
  for (const record of records) {
    const beginning = findBeginning('minutes', record.at);
    let span = spans.get(beginning);
    if (!span) spans.set(beginning, (span = { periods: listPeriods(record.at, now), parts: new Map() }));
    if (span.periods.length === 0) continue;
    addRecord(getOwnerSums(span, ''), record);
    const owner = toOwnerName(record);
    if (owner !== '') addRecord(getOwnerSums(span, owner), record);
  }
  return Array.from(spans.values(), ({ periods, parts }) => ({
    periods,
    parts: Array.from(parts.values(), ({ entities, ...part }) => ({ ...part, entities: [...entities.values()] })),
  }));
}

/** Lists the periods that contain a time, except periods whose sums have expired. */
function listPeriods(at: number, now: number): Span['periods'] {
  return (Object.keys(spansKeptMs) as SpanStep[]).flatMap((step) => {
    const beginning = findBeginning(step, at);
    const expiresAt = beginning + spansKeptMs[step];
    return expiresAt <= now ? [] : [{ name: toSpanName(step, beginning), expiresAt }];
  });
}

function getOwnerSums({ parts }: Span, owner: string): OwnerSums {
  let part = parts.get(owner);
  if (!part) {
    const maxFields = maxSpanFields[owner === '' ? 'everybody' : 'owner'];
    parts.set(owner, (part = { owner, maxFields, overall: {}, entities: new Map() }));
  }
  return part;
}

function addRecord({ overall, entities }: OwnerSums, record: UsageRecord): void {
  const totals = computeTotals(record);
  addTo(
    (overall[totalsField] ??= []),
    countNames.map((name) => totals[name]),
  );
  const { firstTokenMs, totalMs, worker } = record;
  if (firstTokenMs !== undefined) addTo((overall[timeLetters.firstToken + findLatencyClass(firstTokenMs)] ??= []), [1]);
  addTo((overall[timeLetters.total + findLatencyClass(totalMs)] ??= []), [1]);
  const { key, user, team, model } = toTotalsRow(record);
  const counts = entityCounts.map((name) => totals[name]);
  addEntity(entities, entityKinds.model + model, entityKinds.model + otherRow, counts);
  addEntity(entities, toKeyField(key, user, team), toKeyField(otherRow, '', ''), counts);
  if (worker !== undefined) addEntity(entities, entityKinds.worker + worker, entityKinds.worker + otherRow, counts);
}

function toKeyField(key: string, user: string, team: string): string {
  return entityKinds.key + JSON.stringify([key, user, team]);
}

function addEntity(entities: OwnerSums['entities'], row: string, substitute: string, counts: readonly number[]): void {
  const entity = entities.get(row);
  if (entity) addTo(entity.counts, counts);
  else entities.set(row, { row, substitute, counts: [...counts] });
}

function addTo(sums: number[], counts: readonly number[]): void {
  for (const [index, count] of counts.entries()) sums[index] = (sums[index] ?? 0) + count;
}
