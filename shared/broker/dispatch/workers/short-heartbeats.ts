import type { Broker } from '../../connection/connect-broker.ts';
import { encodeAnnounceRequest } from '../../contract/heartbeats.ts';
import type { IngressStats } from '../../contract/ingress-stats.ts';
import type { LiveWorkers } from './live-workers.ts';

/** Milliseconds between two permissions; a permission is valid for four times as long. */
const permissionMs = 5_000;

/** Milliseconds after which a component that publishes no stats counts as gone. */
const goneAfterMs = 3_300;

const maxComponents = 1_000;

/**
 * Maximum messages a second, from all workers to all dispatchers, for heartbeats of workers with a freed slot. These are as many as fifty
 * dispatchers and 2,000 workers exchange anyway.
 */
const freedDeliveries = 100_000;

const maxSoonMs = 1_000;

/**
 * Allows workers to send short heartbeats instead of announcements, as long as every component that publishes stats reports that it
 * supports them. Of all dispatchers, the one whose id sorts first sends the permission.
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

  onStats(from: string, { beats }: Pick<IngressStats, 'beats'>): void {
    if (!this.#parts.has(from) && this.#parts.size >= maxComponents) return;
    this.#parts.set(from, { understands: beats === true, at: performance.now() });
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #allow(): void {
    const oldest = performance.now() - goneAfterMs;
    for (const [id, { at }] of this.#parts) if (at < oldest) this.#parts.delete(id);
    // This dispatcher has not received its own stats, so it may have missed those of others.
    if (!this.#parts.has(this.#ingress)) return;
    const parts = [...this.#parts];
    if (parts.some(([id, { understands }]) => !understands || id < this.#ingress)) return;
    const soonMs = Math.min(maxSoonMs, Math.round((this.#workers.size * parts.length * 1_000) / freedDeliveries));
    this.#broker.publish(this.#broker.subjects.announceRequest, encodeAnnounceRequest({ kind: 'short', soonMs }));
  }
}
