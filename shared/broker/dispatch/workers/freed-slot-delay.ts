import type { Broker } from '../../connection/connect-broker.ts';
import { encodeAnnounceRequest } from '../../contract/heartbeats.ts';
import type { LiveWorkers } from './live-workers.ts';

/** Milliseconds between two messages to the workers. */
const repeatMs = 5_000;

/** Milliseconds after which a dispatcher that publishes no stats counts as gone. */
const goneAfterMs = 3_300;

const maxDispatchers = 1_000;

/**
 * Maximum messages a second, from all workers to all dispatchers, for heartbeats of workers with a freed slot. These are as many as fifty
 * dispatchers and 2,000 workers exchange anyway.
 */
const freedDeliveries = 100_000;

const maxSoonMs = 1_000;

/**
 * Sends workers the delay after which they report a freed slot. It grows with dispatchers × workers, because every dispatcher receives each
 * report. Of all dispatchers, only the one whose id sorts first sends it.
 */
export class FreedSlotDelay {
  readonly #broker: Broker;
  readonly #ingress: string;
  readonly #workers: Pick<LiveWorkers, 'size'>;
  /** When the last stats of each dispatcher arrived, in milliseconds of `performance.now()`. */
  readonly #dispatchers = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(broker: Broker, ingress: string, workers: Pick<LiveWorkers, 'size'>, everyMs = repeatMs) {
    this.#broker = broker;
    this.#ingress = ingress;
    this.#workers = workers;
    this.#timer = setInterval(() => this.#publish(), everyMs);
  }

  onStats(from: string): void {
    if (!this.#dispatchers.has(from) && this.#dispatchers.size >= maxDispatchers) return;
    this.#dispatchers.set(from, performance.now());
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #publish(): void {
    const oldest = performance.now() - goneAfterMs;
    for (const [id, at] of this.#dispatchers) if (at < oldest) this.#dispatchers.delete(id);
    const ids = [...this.#dispatchers.keys()];
    // Without its own stats, this dispatcher may have missed those of others.
    if (!ids.includes(this.#ingress) || ids.some((id) => id < this.#ingress)) return;
    const soonMs = Math.min(maxSoonMs, Math.round((this.#workers.size * ids.length * 1_000) / freedDeliveries));
    this.#broker.publish(this.#broker.subjects.announceRequest, encodeAnnounceRequest({ kind: 'delay', soonMs }));
  }
}
