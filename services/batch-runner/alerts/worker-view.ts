import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { isFailing } from '#shared/broker/contract/announcement.ts';
import { onIngressStats, type EjectedWorker } from '#shared/broker/contract/ingress-stats.ts';
import type { LiveWorker } from '#shared/broker/dispatch/workers/live-worker.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';

/** Milliseconds without stats after which the ejected workers that an ingress has published are forgotten. */
const statsKeptMs = 5_000;

/** Milliseconds after the start of listening until all workers and ingress nodes are known. */
const listenMs = 3_000;

/** Milliseconds after its last proof of life until which a worker counts as certainly alive. */
const provenMs = 3_000;

/** Largest number of lost workers in memory. */
const maxLost = 10_000;
/** Milliseconds for which a lost worker stays in memory. */
const lostKeptMs = 3_600_000;

export interface WorkerProcess {
  id: string;
  tier: string;
  host: string | undefined;
  /** In ms since 1970. */
  startedAt: number;
}

/** Why a worker does not serve: either it reports a failure itself, or ingress nodes have ejected it with a model. */
export interface Trouble {
  state: 'failing' | 'ejected';
  reason: string;
  model?: string | undefined;
}

/** One process's view of the workers. */
export interface WorkersSnapshot {
  /** Workers that are certainly alive; `trouble` is undefined for a worker that serves. */
  alive: (WorkerProcess & { trouble: Trouble | undefined })[];
  /** Workers that have been silent for seconds without announcing their stop. */
  lost: WorkerProcess[];
  /** Ids of all workers that may be alive. */
  maybeAlive: ReadonlySet<string>;
  /** Names of models that have a worker which is not draining, not failing, and not ejected with the model. */
  models: ReadonlySet<string>;
  /** Whether any ingress publishes its ejected workers. */
  knowsEjected: boolean;
  /** Milliseconds since listening began. */
  listenedMs: number;
}

/** Tracks the health of all workers of the cluster by heartbeats and the stats of ingress nodes. */
export class WorkerView {
  readonly #workers: LiveWorkers;
  readonly #broker: Broker;
  readonly #lost = new Map<string, { process: WorkerProcess; at: number }>();
  readonly #ejectedByIngress = new Map<string, { ejected: readonly EjectedWorker[]; at: number }>();
  readonly #stopListening: () => void;
  readonly #since = performance.now();

  constructor(workers: LiveWorkers, broker: Broker) {
    this.#workers = workers;
    this.#broker = broker;
    workers.onLost((worker, loss) => {
      if (loss !== 'silent') return;
      // A worker that is lost again becomes the latest.
      this.#lost.delete(worker.id);
      this.#lost.set(worker.id, { process: toWorkerProcess(worker), at: performance.now() });
      const [oldest] = this.#lost.keys();
      if (this.#lost.size > maxLost && oldest !== undefined) this.#lost.delete(oldest);
    });
    this.#stopListening = onIngressStats(broker, (ingress, { ejected }) => {
      // A batch runner ejects no workers.
      if (ejected) this.#ejectedByIngress.set(ingress, { ejected, at: performance.now() });
    });
  }

  close(): void {
    this.#stopListening();
  }

  /** Returns the current view; undefined without a connection to the broker, and in the first three seconds of listening. */
  read(now = performance.now()): WorkersSnapshot | undefined {
    const listenedMs = now - this.#since;
    if (!this.#broker.connected || listenedMs < listenMs) return undefined;
    for (const [ingress, { at }] of this.#ejectedByIngress)
      if (now - at > statsKeptMs) this.#ejectedByIngress.delete(ingress);
    const ejected = Map.groupBy(
      [...this.#ejectedByIngress.values()].flatMap((listed) => listed.ejected),
      ({ worker }) => worker,
    );
    const workers = [...this.#workers.workers()];
    const maybeAlive = new Set(workers.map(({ id }) => id));
    for (const [id, { at }] of this.#lost) if (maybeAlive.has(id) || now - at > lostKeptMs) this.#lost.delete(id);
    return {
      alive: workers
        .filter(({ provenAliveAt }) => now - provenAliveAt < provenMs)
        .map((worker) => ({
          ...toWorkerProcess(worker),
          trouble: findTrouble(worker, ejected.get(worker.id)?.at(-1)),
        })),
      lost: Array.from(this.#lost.values(), ({ process }) => process),
      maybeAlive,
      models: new Set(workers.flatMap((worker) => listServedModels(worker, ejected.get(worker.id)))),
      knowsEjected: this.#ejectedByIngress.size > 0,
      listenedMs,
    };
  }
}

function toWorkerProcess({ id, announcement: { tier, host, startedAt } }: LiveWorker): WorkerProcess {
  return { id, tier, host, startedAt };
}

function findTrouble({ announcement }: LiveWorker, ejected: EjectedWorker | undefined): Trouble | undefined {
  const { reason, draining } = announcement;
  if (draining) return undefined;
  if (reason !== undefined && isFailing(reason)) return { state: 'failing', reason };
  return ejected && { state: 'ejected', reason: ejected.reason, model: ejected.model };
}

function listServedModels({ announcement, pool }: LiveWorker, ejected: readonly EjectedWorker[] = []): string[] {
  const { reason, draining, models } = announcement;
  if (draining || isFailing(reason) || pool.contract === undefined) return [];
  return models.map(({ id }) => id).filter((id) => !ejected.some(({ model }) => model === id));
}
