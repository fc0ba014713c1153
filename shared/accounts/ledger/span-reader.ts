import type { Redis } from 'ioredis';
import { computePercentiles, type Percentiles } from '#shared/core/metrics/latency-classes.ts';
import { computeNamedPeriod, unitMs, listBeginnings, type NamedPeriod, type Period } from '../periods.ts';
import { addThingCounts, parseCounts, parseKeyField, zeroThingCounts, readSpanHashes } from './span-hashes.ts';
import { thingKinds, timeLetters, wholeField, type SpanStep, type ThingCount, type ThingKind } from './span-sums.ts';
import { addTotals, countNames, zeroTotals, type UsageTotals } from './totals.ts';
import type { UsageViewer } from './usage-record.ts';

/** The periods that can be read, each with the step of its sums. */
export const usageSpans = { '1h': 'minutes', '24h': 'hour', '7d': 'hour' } as const satisfies Partial<
  Record<NamedPeriod, SpanStep>
>;
export type UsageSpan = keyof typeof usageSpans;

/** A model, a key with its owner, or a worker, with the sums of its requests. Cost in nano-dollars. */
export type SpanThing = Record<ThingCount, number> & { id: string; user: string; team: string };

/** The sums of the requests that began in a period. */
export interface SpanSums extends Period {
  /** The beginnings of the steps that have begun, oldest first, in ms since 1970. */
  times: number[];
  /** The length of a step. */
  stepMs: number;
  steps: UsageTotals[];
  totals: UsageTotals;
  firstTokenMs: Percentiles | undefined;
  totalMs: Percentiles | undefined;
  /** The models, keys and workers with the most requests, each list ordered by the number of requests. */
  top: Record<ThingKind, SpanThing[]>;
}

/**
 * Reads the sums of the last hours or days that a viewer may see. An administrator gets the sums of everybody, others their own and those
 * of their teams.
 * @param max maximum of models, of keys and of workers in `top`
 * @throws RouterError `store_unavailable` while Redis is unavailable
 */
export async function readSpan(
  redis: Redis,
  prefix: string,
  viewer: Pick<UsageViewer, 'isAdmin' | 'userId' | 'teamIds'>,
  span: UsageSpan,
  max: number,
  now = Date.now(),
): Promise<SpanSums> {
  const step = usageSpans[span];
  const period = computeNamedPeriod(span, now);
  const times = listBeginnings(step, period.from, now + 1);
  const sums = new Sums(times.length);
  await readSpanHashes(redis, prefix, { viewer, step, times }, (fields, index) => sums.add(index, fields));
  return { ...period, times, stepMs: unitMs[step], ...sums.read(max) };
}

class Sums {
  readonly #steps: UsageTotals[];
  readonly #firstTokenCounts: number[] = [];
  readonly #totalTimeCounts: number[] = [];
  readonly #things = new Map<string, Record<ThingCount, number>>();

  constructor(steps: number) {
    this.#steps = Array.from({ length: steps }, zeroTotals);
  }

  add(index: number, fields: Readonly<Record<string, string>>): void {
    const step = this.#steps[index];
    for (const field in fields) {
      const counts = parseCounts(fields[field]);
      if (!counts) continue;
      const letter = field.slice(0, 1);
      const rest = field.slice(1);
      if (letter === timeLetters.firstToken) addAt(this.#firstTokenCounts, Number(rest), counts[0]);
      else if (letter === timeLetters.total) addAt(this.#totalTimeCounts, Number(rest), counts[0]);
      else if (field !== wholeField) this.#addThing(field, counts);
      else if (step) for (const [place, name] of countNames.entries()) step[name] += counts[place] ?? 0;
    }
  }

  #addThing(row: string, counts: readonly number[]): void {
    let thing = this.#things.get(row);
    if (!thing) this.#things.set(row, (thing = zeroThingCounts()));
    addThingCounts(thing, counts);
  }

  read(max: number): Omit<SpanSums, 'from' | 'to' | 'times' | 'stepMs'> {
    const totals = zeroTotals();
    for (const step of this.#steps) addTotals(totals, step);
    return {
      steps: this.#steps,
      totals,
      firstTokenMs: computePercentiles(fillGaps(this.#firstTokenCounts)),
      totalMs: computePercentiles(fillGaps(this.#totalTimeCounts)),
      top: { model: this.#top('model', max), key: this.#top('key', max), worker: this.#top('worker', max) },
    };
  }

  #top(kind: ThingKind, max: number): SpanThing[] {
    return [...this.#things]
      .filter(([row]) => row.startsWith(thingKinds[kind]))
      .sort(([, a], [, b]) => b.requests - a.requests || b.cost - a.cost)
      .slice(0, max)
      .flatMap(([row, counts]): SpanThing[] => {
        if (kind !== 'key') return [{ id: row.slice(1), user: '', team: '', ...counts }];
        const keyRow = parseKeyField(row);
        return keyRow ? [{ id: keyRow.key, user: keyRow.user, team: keyRow.team, ...counts }] : [];
      });
  }
}

function addAt(counts: number[], index: number, value = 0): void {
  if (Number.isInteger(index) && index >= 0 && index < 1_000) counts[index] = (counts[index] ?? 0) + value;
}

/** Returns the counts of latency classes, with 0 for classes without a count. */
function fillGaps(counts: readonly number[]): number[] {
  return Array.from(counts, (count: number | undefined) => count ?? 0);
}
