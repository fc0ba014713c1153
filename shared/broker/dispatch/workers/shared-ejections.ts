import { isErrorCode } from '#shared/core/errors.ts';
import { maxEjected, type EjectedWorker } from '../../contract/ingress-stats.ts';
import { servesName } from './live-pool.ts';
import type { LiveWorkers } from './live-workers.ts';
import { mayEject } from './outcome-judge.ts';

/** Milliseconds after which the list of a silent dispatcher is dropped. */
const silentMs = 10_000;

/** Maximum dispatchers with a list of ejected workers. */
const maxDispatchers = 1_000;

/**
 * Shares ejections between dispatchers through their stats, so that not every dispatcher must detect a faulty worker by itself. A new entry
 * in another dispatcher's list ejects the worker here too, if `mayEject` allows it. When an entry disappears from the list, a probe is due
 * at once.
 */
export class SharedEjections {
  readonly #workers: LiveWorkers;
  /** The last list of each other dispatcher, and when it came. The keys of the entries name worker and model. */
  readonly #lists = new Map<string, { entries: ReadonlyMap<string, EjectedWorker>; receivedAt: number }>();

  constructor(workers: LiveWorkers) {
    this.#workers = workers;
  }

  /**
   * Lists the workers that this dispatcher has ejected by itself. Leaves out workers that it has ejected because of another list, because
   * two dispatchers would otherwise copy an ejection from each other again and again.
   */
  listOwn(): EjectedWorker[] {
    const ejected: EjectedWorker[] = [];
    for (const { id, health } of this.#workers.workers()) {
      for (const { model, reason, isOwn } of health.ejections()) {
        if (ejected.length >= maxEjected) return ejected;
        if (isOwn) ejected.push({ worker: id, model, reason });
      }
    }
    return ejected;
  }

  /** Handles another dispatcher's list, which comes once a second. */
  onList(ingress: string, ejected: readonly EjectedWorker[]): void {
    const now = performance.now();
    for (const [name, { receivedAt }] of this.#lists) if (now - receivedAt > silentMs) this.#lists.delete(name);
    const before = this.#lists.get(ingress)?.entries;
    if (!before && (ejected.length === 0 || this.#lists.size >= maxDispatchers)) return;
    const entries = new Map(ejected.map((entry) => [`${entry.worker} ${entry.model}`, entry]));
    for (const [key, { worker: id, model, reason }] of entries) {
      const worker = before?.has(key) ? undefined : this.#workers.get(id);
      if (!worker || !servesName(worker.pool, model)) continue;
      if (worker.health.isEjected(model) || !mayEject(worker, model)) continue;
      worker.health.eject(model, reason === 'slow' || isErrorCode(reason) ? reason : 'upstream_failed', now, false);
    }
    for (const [key, { worker, model }] of before ?? [])
      if (!entries.has(key)) this.#workers.get(worker)?.health.find(model)?.probeSoon(now);
    if (entries.size === 0) this.#lists.delete(ingress);
    else this.#lists.set(ingress, { entries, receivedAt: now });
  }
}
