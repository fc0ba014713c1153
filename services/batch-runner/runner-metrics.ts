import { Counter, Gauge, type Registry } from 'prom-client';
import type { BackgroundJobs, QueueCounts } from '#shared/background/background-jobs.ts';
import type { QueueWorker } from '#shared/background/background-worker.ts';
import type { BackgroundQueue } from '#shared/background/background-job.ts';
import {
  isOver,
  isPaused,
  findLastProgress,
  type BatchRecord,
  type LineOutcome,
} from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import { sweptKinds, type SweptKind } from './sweeps/sweep.ts';

/** Milliseconds within which metrics belong to one scrape. */
const sameScrapeMs = 500;

export interface WatchedRunner {
  jobs: Pick<BackgroundJobs, 'countAll'>;
  batches: Pick<BatchWork, 'listOpen'>;
  slots: { running: number; preemptions: number };
  workers: ReadonlyMap<BackgroundQueue, Omit<QueueWorker, 'close'>>;
}

export class RunnerMetrics {
  readonly #lines: Counter<'outcome'>;
  readonly #repeated: Counter;
  readonly #responses: Counter<'state'>;
  readonly #swept: Counter<'kind'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#lines = new Counter({
      name: 'rtr_batch_lines_total',
      help: 'Requests of batches with a result that this runner has recorded, by outcome: succeeded or errored',
      labelNames: ['outcome'],
      registers,
    });
    for (const outcome of ['succeeded', 'errored']) this.#lines.inc({ outcome }, 0);
    this.#responses = new Counter({
      name: 'rtr_background_responses_total',
      help: 'Responses that this runner has made in the background, by the state in which they ended',
      labelNames: ['state'],
      registers,
    });
    for (const state of ['completed', 'incomplete', 'failed']) this.#responses.inc({ state }, 0);
    this.#repeated = new Counter({
      name: 'rtr_batch_lines_repeated_total',
      help: 'Requests of batches that were executed although they had a result; neither recorded nor counted',
      registers,
    });
    this.#swept = new Counter({
      name: 'rtr_swept_total',
      help: 'Records that this runner has removed because they had expired, or nothing refers to them any more',
      labelNames: ['kind'],
      registers,
    });
    for (const kind of sweptKinds) this.#swept.inc({ kind }, 0);
  }

  countSwept(kind: SweptKind, count: number): void {
    this.#swept.inc({ kind }, count);
  }

  countResponse(state: 'completed' | 'incomplete' | 'failed'): void {
    this.#responses.inc({ state });
  }

  /** Counts a line that this runner has run; `isFirst` is false if the line had a result already. */
  countLine(outcome: Extract<LineOutcome, 'succeeded' | 'errored'>, isFirst: boolean): void {
    if (isFirst) this.#lines.inc({ outcome });
    else this.#repeated.inc();
  }
}

/** Adds the metrics that are computed at each scrape: batches, queues, and running lines. */
export function registerRunnerGauges(registry: Registry, { jobs, batches, slots, workers }: WatchedRunner): void {
  const registers = [registry];
  const running: Gauge = new Gauge({
    name: 'rtr_batch_lines_running',
    help: 'Requests of batches that this runner has given to workers',
    registers,
    collect: () => running.set(slots.running),
  });
  const addCounter = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    collect: (counter: Counter<Label>) => void,
  ): void => {
    const counter: Counter<Label> = new Counter({
      name,
      help,
      labelNames: [...labelNames],
      registers,
      collect: () => {
        counter.reset();
        collect(counter);
      },
    });
  };
  addCounter(
    'rtr_batch_lines_gave_way_total',
    'Requests of batches that were stopped for a live request',
    [],
    (counter) => counter.inc(slots.preemptions),
  );
  addCounter(
    'rtr_background_jobs_total',
    'Jobs of background work, by queue and outcome',
    ['queue', 'outcome'],
    (counter) => {
      for (const [queue, { completions, failures, stalls }] of workers) {
        counter.inc({ queue, outcome: 'completed' }, completions);
        counter.inc({ queue, outcome: 'failed' }, failures);
        counter.inc({ queue, outcome: 'stalled' }, stalls);
      }
    },
  );
  const waiting: Gauge<'queue' | 'state'> = new Gauge({
    name: 'rtr_background_queue',
    help: 'Jobs of background work in the queues of the cluster, by state',
    labelNames: ['queue', 'state'],
    registers,
    collect: async () => {
      const counts = await jobs.countAll().catch((): Partial<Record<string, QueueCounts>> => ({}));
      waiting.reset();
      for (const [queue, states] of Object.entries(counts))
        for (const [state, number] of Object.entries(states ?? {})) waiting.set({ queue, state }, number);
    },
  });
  let lastRead: { at: number; batches: Promise<BatchRecord[] | undefined> } | undefined;
  // The batches are read only once for all metrics of a scrape.
  const readBatches = (): Promise<BatchRecord[] | undefined> => {
    if (!lastRead || performance.now() - lastRead.at > sameScrapeMs)
      lastRead = { at: performance.now(), batches: batches.listOpen().catch(() => undefined) };
    return lastRead.batches;
  };
  const open: Gauge<'state'> = new Gauge({
    name: 'rtr_batches_open',
    help: 'Batches of the cluster that are not over, by state; `paused` while a limit is used up',
    labelNames: ['state'],
    registers,
    collect: async () => {
      const openBatches = (await readBatches()) ?? [];
      open.reset();
      for (const state of ['validating', 'running', 'paused', 'finishing']) open.set({ state }, 0);
      for (const batch of openBatches)
        if (!isOver(batch)) open.inc({ state: isLimited(batch) ? 'paused' : batch.state });
    },
  });
  const standstill: Gauge = new Gauge({
    name: 'rtr_batch_standstill_seconds',
    help: 'Longest time without progress of any unfinished batch that does not wait for a limit; absent while Redis is unreachable',
    registers,
    collect: async () => {
      const openBatches = await readBatches();
      const unlimitedBatches = openBatches?.filter((batch) => !isOver(batch) && !isLimited(batch));
      if (!unlimitedBatches) standstill.remove();
      else
        standstill.set(Math.max(0, ...unlimitedBatches.map((batch) => Date.now() - findLastProgress(batch))) / 1_000);
    },
  });
}

/**
 * Returns whether a batch waits for a limit. Waiting for a worker counts as a standstill instead, because it lasts until an operator starts
 * a worker.
 */
function isLimited(batch: BatchRecord): boolean {
  return isPaused(batch) && batch.lacksWorker !== true;
}
