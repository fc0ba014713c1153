import type { Broker } from '../../connection/connect-broker.ts';
import { encodeAnnounceRequest } from '../../contract/heartbeats.ts';
import type { IngressStats } from '../../contract/ingress-stats.ts';
import type { LiveWorkers } from './live-workers.ts';

/** Milliseconds between two permissions; workers go by one for four times as long. */
const permissionMs = 5_000;

/** Milliseconds after which a part that publishes no stats counts as gone. */
const goneAfterMs = 3_300;

/** Parts that are known at most. */
const maxParts = 1_000;

/**
 * Messages in a second, from all workers to all ingress nodes, that heartbeats of workers with a freed slot may come to: as many as
 * fifty ingress nodes and 2,000 workers exchange anyway.
 */
const freedDeliveries = 100_000;

const maxSoonMs = 1_000;

/**
 * Allows workers to send beats instead of announcements, as long as every part that publishes stats says that it understands them. Of
 * all ingress nodes, the one whose id comes first does so.
 */
export class ShortHeartbeats {
  readonly #broker: Broker;
  readonly #ingress: string;
  readonly #workers: Pick<LiveWorkers, 'size'>;
  readonly #parts = new Map<string, { understands: boolean; at: number }>();
  readonly #timer: NodeJS.Timeout;

  constructor(broker: Broker, ingress: string, workers: Pick<LiveWorkers, 'size'>, everyMs = permissionMs) {
    this.#broker = broker;
    this.#ingress = ingress;
    this.#workers = workers;
    this.#timer = setInterval(() => this.#allow(), everyMs);
  }

  /** Takes note of the stats of an ingress or another part, this ingress among them. */
  onStats(from: string, { beats }: Pick<IngressStats, 'beats'>): void {
    if (!this.#parts.has(from) && this.#parts.size >= maxParts) return;
    this.#parts.set(from, { understands: beats === true, at: performance.now() });
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #allow(): void {
    const oldest = performance.now() - goneAfterMs;
    for (const [id, { at }] of this.#parts) if (at < oldest) this.#parts.delete(id);
    // Its own stats have not come back: it knows of nobody.
    if (!this.#parts.has(this.#ingress)) return;
    const parts = [...this.#parts];
    if (parts.some(([id, { understands }]) => !understands || id < this.#ingress)) return;
    const soonMs = Math.min(maxSoonMs, Math.round((this.#workers.size * parts.length * 1_000) / freedDeliveries));
    this.#broker.publish(this.#broker.subjects.announceRequest, encodeAnnounceRequest({ kind: 'short', soonMs }));
  }
}
