import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { onIngressStats, publishIngressStats, type IngressStats } from '#shared/broker/contract/ingress-stats.ts';

const statsMs = 1_000;

/** Milliseconds after its last stats at which an ingress counts as gone: three missed messages and some slack. */
const goneAfterMs = 3_300;

const maxIngresses = 1_000;

/** Publishes this ingress's stats every second and keeps the last stats of every ingress. */
export class StatsBoard {
  readonly #received = new Map<string, { stats: IngressStats; at: number }>();
  readonly #stop: () => void;

  constructor(
    broker: Broker,
    ingress: string,
    readStats: () => IngressStats,
    onStats: (from: string, stats: IngressStats) => void,
  ) {
    const unsubscribe = onIngressStats(broker, (from, stats) => {
      onStats(from, stats);
      if (this.#received.has(from) || this.#received.size < maxIngresses) {
        this.#received.set(from, { stats, at: performance.now() });
      }
    });
    const timer = setInterval(() => publishIngressStats(broker, ingress, readStats()), statsMs);
    this.#stop = () => {
      clearInterval(timer);
      unsubscribe();
    };
  }

  /** Returns the last stats of each live ingress. */
  listCurrent(): IngressStats[] {
    const oldest = performance.now() - goneAfterMs;
    for (const [ingress, { at }] of this.#received) if (at < oldest) this.#received.delete(ingress);
    return Array.from(this.#received.values(), ({ stats }) => stats);
  }

  close(): void {
    this.#stop();
  }
}
