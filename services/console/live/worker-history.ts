import type { Loss } from '#shared/broker/dispatch/workers/live-pool.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { GoneWorker } from '../contract/live.ts';
import { countBusySlots, toUnixMs, findState } from './worker-facts.ts';

/** The maximum number of departures that are kept. */
const maxDepartures = 1_000;

/** The maximum number of departures of one worker that are kept, so that a worker that restarts all the time does not push out others. */
const maxDeparturesOfWorker = 5;

/** Milliseconds for which a departure is kept. */
const keptMs = 86_400_000;

/** The maximum number of names of models and tools that are kept for a worker. */
const maxNames = 10;

/**
 * The workers that have gone, with the time and the reason. Each ingress keeps in memory the departures that it has seen. Heartbeats reach
 * all ingress nodes, so all nodes that ran at the time have the same departures. A node that started later lacks them.
 */
export class WorkerHistory {
  readonly #workers: Pick<LiveWorkers, 'get'>;
  /** Oldest first. */
  #gone: Omit<GoneWorker, 'isBack'>[] = [];

  constructor(workers: Pick<LiveWorkers, 'get' | 'onLost'>) {
    this.#workers = workers;
    workers.onLost((worker, loss) => this.#add(worker, loss));
  }

  /**
   * Returns the workers that have gone, newest first.
   * @param now milliseconds since 1970
   */
  list(now = Date.now()): GoneWorker[] {
    this.#gone = this.#gone.filter(({ goneAt }) => now - goneAt <= keptMs);
    return this.#gone
      .toReversed()
      .map((gone) => (this.#workers.get(gone.id) ? { ...gone, isBack: true as const } : gone));
  }

  #add(worker: LiveWorker, loss: Loss): void {
    const gone = toFacts(worker, loss);
    const departures = this.#gone.filter(({ id }) => id === gone.id);
    if (departures.length >= maxDeparturesOfWorker)
      this.#gone.splice(
        this.#gone.findIndex(({ id }) => id === gone.id),
        1,
      );
    if (this.#gone.length >= maxDepartures) this.#gone.shift();
    this.#gone.push(gone);
  }
}

function toFacts(worker: LiveWorker, loss: Loss): Omit<GoneWorker, 'isBack'> {
  const { id, announcement, joinedAt, pool } = worker;
  const { tier, startedAt, version, host, reason, models, tools } = announcement;
  const names = [...models.map((model) => model.id), ...tools.map(({ name }) => name)];
  const jobs = countBusySlots(worker);
  const state = findState(worker);
  return {
    id,
    tier,
    pool: pool.pool,
    ...(host === undefined ? {} : { host }),
    version,
    serves: names.slice(0, maxNames),
    servedNames: names.length,
    startedAt,
    joinedAt: toUnixMs(joinedAt),
    goneAt: Date.now(),
    why: toReason(loss, state === 'draining' && jobs === 0),
    jobs,
    state,
    ...(reason === undefined ? {} : { reason }),
  };
}

function toReason(loss: Loss, isDrained: boolean): GoneWorker['why'] {
  switch (loss) {
    case 'left':
      return isDrained ? 'drained' : 'left';
    case 'replaced':
      return 'restarted';
    case 'silent':
      return 'lost';
  }
}
