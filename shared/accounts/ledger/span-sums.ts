import { latencyClass } from '#shared/core/metrics/latency-classes.ts';
import { countLetters, countNames, other, rowOf, totalsOf } from './totals.ts';
import type { UsageRecord } from './usage-record.ts';

const hourMs = 3_600_000;

/** The steps that sums of the last hours are kept by: their length, and for how long after their beginning, both in milliseconds. */
export const spanSteps = {
  minutes: { ms: 300_000, keptMs: 2 * hourMs },
  hour: { ms: hourMs, keptMs: 8 * 24 * hourMs },
} as const;
export type SpanStep = keyof typeof spanSteps;

/** What is counted of a model, a key or a worker. */
export const thingCounts = ['requests', 'failed', 'promptTokens', 'completionTokens', 'cost'] as const;
export type ThingCount = (typeof thingCounts)[number];

/** The things that are counted apart, each with the letter before its name. */
export const thingKinds = { model: 'm', key: 'k', worker: 'w' } as const;
export type ThingKind = keyof typeof thingKinds;

/** The letters before the class of a time, in the fields that count times. */
export const timeLetters = { firstToken: 'T', total: 'E' } as const;

/** The owners of one period whose sums are kept apart from everybody's, at most. */
export const maxSpanOwners = 1_000;

/** Fields of everybody's sums of one period, and of an owner's, from which on further models, keys and workers are counted together. */
export const maxSpanFields = { everybody: 3_000, owner: 128 } as const;

/** The name of a period's sums below `usage:spans:`, as `hour:2026-11-28T08` and `minutes:2026-11-28T08:45`. */
export function spanName(step: SpanStep, beginning: number): string {
  return `${step}:${new Date(beginning).toISOString().slice(0, step === 'hour' ? 13 : 16)}`;
}

/** The beginning of the period that a time is in, both in ms since 1970. */
export function spanBeginning(step: SpanStep, at: number): number {
  const { ms } = spanSteps[step];
  return Math.floor(at / ms) * ms;
}

/** The name in Redis of whose sums they are, as `user:0a1b`; empty for a request without an owner. */
export function ownerName({ owner }: Pick<UsageRecord, 'owner'>): string {
  return owner ? `${owner.kind}:${owner.id}` : '';
}

/** What the script adds to the sums of one period of an owner, or of everybody where the owner is empty. */
interface Part {
  owner: string;
  maxFields: number;
  /** Fields and what is added to them, in turns. */
  whole: Map<string, number>;
  things: Map<string, { row: string; substitute: string; counts: number[] }>;
}

interface Span {
  name: string;
  expiresAt: number;
  parts: Map<string, Part>;
}

/** What requests add to the sums of the last hours, as the script takes it. */
export function spansOf(records: readonly UsageRecord[], now = Date.now()) {
  const spans = new Map<string, Span>();
  for (const record of records) {
    for (const step of Object.keys(spanSteps) as SpanStep[]) {
      const beginning = spanBeginning(step, record.at);
      const expiresAt = beginning + spanSteps[step].keptMs;
      if (expiresAt <= now) continue;
      const name = spanName(step, beginning);
      let span = spans.get(name);
      if (!span) spans.set(name, (span = { name, expiresAt, parts: new Map() }));
      addTo(partOf(span, ''), record);
      const owner = ownerName(record);
      if (owner !== '') addTo(partOf(span, owner), record);
    }
  }
  return Array.from(spans.values(), ({ parts, ...span }) => ({
    ...span,
    parts: Array.from(parts.values(), ({ whole, things, ...part }) => ({
      ...part,
      whole: [...whole].flat(),
      things: [...things.values()],
    })),
  }));
}

function partOf({ parts }: Span, owner: string): Part {
  let part = parts.get(owner);
  if (!part) {
    const maxFields = maxSpanFields[owner === '' ? 'everybody' : 'owner'];
    parts.set(owner, (part = { owner, maxFields, whole: new Map(), things: new Map() }));
  }
  return part;
}

function addTo({ whole, things }: Part, record: UsageRecord): void {
  const totals = totalsOf(record);
  const add = (field: string, count: number): void => {
    if (count !== 0) whole.set(field, (whole.get(field) ?? 0) + count);
  };
  for (const name of countNames) add(countLetters[name], totals[name]);
  const { firstTokenMs, totalMs, worker } = record;
  if (firstTokenMs !== undefined) add(timeLetters.firstToken + latencyClass(firstTokenMs), 1);
  add(timeLetters.total + latencyClass(totalMs), 1);
  const { key, user, team, model } = rowOf(record);
  const counts = thingCounts.map((name) => totals[name]);
  addThing(things, thingKinds.model + model, thingKinds.model + other, counts);
  addThing(things, keyRow(key, user, team), keyRow(other, '', ''), counts);
  if (worker !== undefined) addThing(things, thingKinds.worker + worker, thingKinds.worker + other, counts);
}

function keyRow(key: string, user: string, team: string): string {
  return thingKinds.key + JSON.stringify([key, user, team]);
}

function addThing(things: Part['things'], row: string, substitute: string, counts: readonly number[]): void {
  const thing = things.get(row);
  if (thing) for (const [index, count] of counts.entries()) thing.counts[index] = (thing.counts[index] ?? 0) + count;
  else things.set(row, { row, substitute, counts: [...counts] });
}
