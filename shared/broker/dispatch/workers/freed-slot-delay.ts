import type { Broker } from '../../connection/connect-broker.ts';
import { encodeAnnounceRequest } from '../../contract/heartbeats.ts';
import type { LiveWorkers } from './live-workers.ts';

/** Milliseconds between two messages with the delay. */
const repeatMs = 5_000;

/** Milliseconds without stats of a dispatcher after which it counts as gone. */
const goneAfterMs = 3_300;

/** Maximum dispatchers that are counted. */
const maxDispatchers = 1_000;

/**
 * Maximum deliveries per second of heartbeats about freed slots, from all workers to all dispatchers together. The regular heartbeats of
 * 2,000 workers to fifty dispatchers are as many.
 */
const maxDeliveries = 100_000;

/** Maximum milliseconds of the delay. */
const maxDelayMs = 1_000;

/**
 * Sends all workers the delay after which they report a freed slot. The delay grows with the number of dispatchers times the number of
 * workers, because every dispatcher receives each report. Only the dispatcher whose name sorts first sends the delay.
 */
export class FreedSlotDelay {
  readonly #broker: Broker;
  readonly #ingress: string;
  readonly #workers: Pick<LiveWorkers, 'size'>;
  /** When the last stats of each dispatcher arrived, in milliseconds of `performance.now()`. */
  readonly #dispatchers = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(broker: Broker, ingress: string, workers: Pick<LiveWorkers, 'size'>, intervalMs = repeatMs) {
    this.#broker = broker;
    this.#ingress = ingress;
    this.#workers = workers;
    this.#timer = setInterval(() => this.#publish(), intervalMs);
  }

  /** Records that stats of a dispatcher have come. */
  onStats(ingress: string): void {
    if (!this.#dispatchers.has(ingress) && this.#dispatchers.size >= maxDispatchers) return;
    this.#dispatchers.set(ingress, performance.now());
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #publish(): void {
    const oldest = performance.now() - goneAfterMs;
    for (const [id, at] of this.#dispatchers) if (at < oldest) this.#dispatchers.delete(id);
    const ids = [...this.#dispatchers.keys()];
    // If this dispatcher has not received its own stats, it may have missed the stats of other dispatchers.
    if (!ids.includes(this.#ingress) || ids.some((id) => id < this.#ingress)) return;
    const soonMs = Math.min(maxDelayMs, Math.round((this.#workers.size * ids.length * 1_000) / maxDeliveries));
    this.#broker.publish(this.#broker.subjects.announceRequest, encodeAnnounceRequest({ kind: 'delay', soonMs }));
  }
}
