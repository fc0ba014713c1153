import type { Redis } from 'ioredis';
import { computePercentiles, type Percentiles } from '#shared/core/metrics/latency-classes.ts';
import { computeNamedPeriod, unitMs, listBeginnings, type NamedPeriod, type Period } from '../periods.ts';
import { addEntityCounts, parseCounts, parseKeyField, createZeroEntityCounts, readSpanHashes } from './span-hashes.ts';
import {
  entityKinds,
  timeLetters,
  totalsField,
  type SpanStep,
  type EntityCount,
  type EntityKind,
} from './span-sums.ts';
import { addTotals, countNames, createZeroTotals, type UsageTotals } from './totals.ts';
import type { UsageViewer } from './usage-record.ts';

/** The named periods for which `readSpan` reads sums. The value is the step of the sums. */
export const usageSpans = { '1h': 'minutes', '24h': 'hour', '7d': 'hour' } as const satisfies Partial<
  Record<NamedPeriod, SpanStep>
>;
export type UsageSpan = keyof typeof usageSpans;

/** A model, a key with its owner, or a worker, with the sums of its requests. Cost in nano-dollars. */
export type SpanItem = Record<EntityCount, number> & { id: string; user: string; team: string };

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
  top: Record<EntityKind, SpanItem[]>;
}

/**
 * Reads the sums of the last hours or days that a viewer may see. An administrator gets the sums of everybody. Everybody else gets their
 * own sums and the sums of their teams.
 * @param max maximum number of entities of each kind in `top`
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
  const sums = new SpanAccumulator(times.length);
  await readSpanHashes(redis, prefix, { viewer, step, times }, (fields, index) => sums.addHash(index, fields));
  return { ...period, times, stepMs: unitMs[step], ...sums.read(max) };
}

class SpanAccumulator {
  readonly #steps: UsageTotals[];
  readonly #firstTokenCounts: number[] = [];
  readonly #totalTimeCounts: number[] = [];
  readonly #entities = new Map<string, Record<EntityCount, number>>();

  constructor(steps: number) {
    this.#steps = Array.from({ length: steps }, createZeroTotals);
  }

  addHash(index: number, fields: Readonly<Record<string, string>>): void {
    const step = this.#steps[index];
    for (const field in fields) {
      const counts = parseCounts(fields[field]);
      if (!counts) continue;
      const letter = field.slice(0, 1);
      const latencyClass = field.slice(1);
      if (letter === timeLetters.firstToken) addToClass(this.#firstTokenCounts, Number(latencyClass), counts[0]);
      else if (letter === timeLetters.total) addToClass(this.#totalTimeCounts, Number(latencyClass), counts[0]);
      else if (field !== totalsField) this.#addEntity(field, counts);
      else if (step) for (const [place, name] of countNames.entries()) step[name] += counts[place] ?? 0;
    }
  }

  #addEntity(row: string, counts: readonly number[]): void {
    let entity = this.#entities.get(row);
    if (!entity) this.#entities.set(row, (entity = createZeroEntityCounts()));
    addEntityCounts(entity, counts);
  }

  read(max: number): Omit<SpanSums, 'from' | 'to' | 'times' | 'stepMs'> {
    const totals = createZeroTotals();
    for (const step of this.#steps) addTotals(totals, step);
    return {
      steps: this.#steps,
      totals,
      firstTokenMs: computePercentiles(fillGaps(this.#firstTokenCounts)),
      totalMs: computePercentiles(fillGaps(this.#totalTimeCounts)),
      top: { model: this.#listTop('model', max), key: this.#listTop('key', max), worker: this.#listTop('worker', max) },
    };
  }

  #listTop(kind: EntityKind, max: number): SpanItem[] {
    return [...this.#entities]
      .filter(([row]) => row.startsWith(entityKinds[kind]))
      .sort(([, a], [, b]) => b.requests - a.requests || b.cost - a.cost)
      .slice(0, max)
      .flatMap(([row, counts]): SpanItem[] => {
        if (kind !== 'key') return [{ id: row.slice(1), user: '', team: '', ...counts }];
        const keyRow = parseKeyField(row);
        return keyRow ? [{ id: keyRow.key, user: keyRow.user, team: keyRow.team, ...counts }] : [];
      });
  }
}

/** Adds to the count of a latency class. Ignores an index that can be no class, which a damaged field may have. */
function addToClass(counts: number[], index: number, value = 0): void {
  if (Number.isInteger(index) && index >= 0 && index < 1_000) counts[index] = (counts[index] ?? 0) + value;
}

/** Returns the counts of latency classes, with 0 for classes without a count. */
function fillGaps(counts: readonly number[]): number[] {
  return Array.from(counts, (count: number | undefined) => count ?? 0);
}
