import { findLatencyClass } from '#shared/core/metrics/latency-classes.ts';
import { findBeginning } from '../periods.ts';
import { countNames, otherRow, totalsRowOf, computeTotals } from './totals.ts';
import type { UsageRecord, UsageViewer } from './usage-record.ts';

const hourMs = 3_600_000;

/** The steps of the sums of the last hours, each with the milliseconds from the beginning of a step until its sums expire. */
export const spansKeptMs = { minutes: 2 * hourMs, hour: 8 * 24 * hourMs } as const;
export type SpanStep = keyof typeof spansKeptMs;

export const thingCounts = ['requests', 'failed', 'promptTokens', 'completionTokens', 'cost'] as const;
export type ThingCount = (typeof thingCounts)[number];

/** The kinds of things that are counted separately, each with the letter that begins its fields. */
export const thingKinds = { model: 'm', key: 'k', worker: 'w' } as const;
export type ThingKind = keyof typeof thingKinds;

/** The letters before the latency class in the names of the fields that count requests by their times. */
export const timeLetters = { firstToken: 'T', total: 'E' } as const;

/** The field with the sums of all requests: one count for each of `countNames`. */
export const wholeField = 'a';

/** Maximum of owners whose sums are counted separately in one period. */
export const maxSpanOwners = 1_000;

/**
 * Maximum of fields in the sums of one period, for everybody and for one owner. Further models are counted together, and so are further
 * keys and further workers.
 */
export const maxSpanFields = { everybody: 1_000, owner: 100 } as const;

/** Returns the part after `usage:spans:` of the name of a period's sums, such as `hour:2026-11-28T08` or `minutes:2026-11-28T08:45`. */
export function spanName(step: SpanStep, beginning: number): string {
  return `${step}:${new Date(beginning).toISOString().slice(0, step === 'hour' ? 13 : 16)}`;
}

/**
 * Returns the ends of the names of the sums that a viewer may see. An administrator sees the sums of everybody, others their own and those
 * of their teams.
 */
export function listOwnerSuffixes({
  isAdmin,
  userId,
  teamIds,
}: Pick<UsageViewer, 'isAdmin' | 'userId' | 'teamIds'>): string[] {
  return isAdmin ? [''] : [`:user:${userId}`, ...teamIds.map((id) => `:team:${id}`)];
}

/** Returns the owner of a request in the form for names in Redis, such as `user:0a1b`; empty for a request without an owner. */
export function ownerName({ owner }: Pick<UsageRecord, 'owner'>): string {
  return owner ? `${owner.kind}:${owner.id}` : '';
}

/** What the script adds to the sums of one period of an owner, or of everybody if `owner` is empty. */
interface OwnerSums {
  owner: string;
  maxFields: number;
  /** The fields of all requests together, each with the numbers to add to its counts. */
  whole: Record<string, number[]>;
  things: Map<string, { row: string; substitute: string; counts: number[] }>;
}

interface Span {
  periods: { name: string; expiresAt: number }[];
  parts: Map<string, OwnerSums>;
}

/** Returns what requests add to the sums of the last hours, in the form for the script. */
export function toSpanArgs(records: readonly UsageRecord[], now = Date.now()) {
  // Requests are grouped by five minutes, which determine the hour, too.
  const spans = new Map<number, Span>();
  for (const record of records) {
    const beginning = findBeginning('minutes', record.at);
    let span = spans.get(beginning);
    if (!span) spans.set(beginning, (span = { periods: listPeriods(record.at, now), parts: new Map() }));
    if (span.periods.length === 0) continue;
    addRecord(getPart(span, ''), record);
    const owner = ownerName(record);
    if (owner !== '') addRecord(getPart(span, owner), record);
  }
  return Array.from(spans.values(), ({ periods, parts }) => ({
    periods,
    parts: Array.from(parts.values(), ({ things, ...part }) => ({ ...part, things: [...things.values()] })),
  }));
}

/** Returns the periods that contain a time, without those whose sums have expired. */
function listPeriods(at: number, now: number): Span['periods'] {
  return (Object.keys(spansKeptMs) as SpanStep[]).flatMap((step) => {
    const beginning = findBeginning(step, at);
    const expiresAt = beginning + spansKeptMs[step];
    return expiresAt <= now ? [] : [{ name: spanName(step, beginning), expiresAt }];
  });
}

function getPart({ parts }: Span, owner: string): OwnerSums {
  let part = parts.get(owner);
  if (!part) {
    const maxFields = maxSpanFields[owner === '' ? 'everybody' : 'owner'];
    parts.set(owner, (part = { owner, maxFields, whole: {}, things: new Map() }));
  }
  return part;
}

function addRecord({ whole, things }: OwnerSums, record: UsageRecord): void {
  const totals = computeTotals(record);
  addTo(
    (whole[wholeField] ??= []),
    countNames.map((name) => totals[name]),
  );
  const { firstTokenMs, totalMs, worker } = record;
  if (firstTokenMs !== undefined) addTo((whole[timeLetters.firstToken + findLatencyClass(firstTokenMs)] ??= []), [1]);
  addTo((whole[timeLetters.total + findLatencyClass(totalMs)] ??= []), [1]);
  const { key, user, team, model } = totalsRowOf(record);
  const counts = thingCounts.map((name) => totals[name]);
  addThing(things, thingKinds.model + model, thingKinds.model + otherRow, counts);
  addThing(things, keyRow(key, user, team), keyRow(otherRow, '', ''), counts);
  if (worker !== undefined) addThing(things, thingKinds.worker + worker, thingKinds.worker + otherRow, counts);
}

function keyRow(key: string, user: string, team: string): string {
  return thingKinds.key + JSON.stringify([key, user, team]);
}

function addThing(things: OwnerSums['things'], row: string, substitute: string, counts: readonly number[]): void {
  const thing = things.get(row);
  if (thing) addTo(thing.counts, counts);
  else things.set(row, { row, substitute, counts: [...counts] });
}

function addTo(sums: number[], counts: readonly number[]): void {
  for (const [index, count] of counts.entries()) sums[index] = (sums[index] ?? 0) + count;
}
