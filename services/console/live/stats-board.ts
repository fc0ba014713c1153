import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { onIngressStats, publishIngressStats, type IngressStats } from '#shared/broker/contract/ingress-stats.ts';

const statsMs = 1_000;

/** Milliseconds after its last stats at which an ingress counts as gone: three missed messages and some slack. */
const goneAfterMs = 3_300;

/** Maximum number of ingress nodes whose stats are kept. Nodes that join later are left out until others are gone. */
const maxIngresses = 1_000;

/** Publishes this ingress's stats every second and keeps the last stats of every ingress. */
export class StatsBoard {
  /** The stats that came last are the last in the map. */
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
      this.#received.delete(from);
      if (this.#received.size >= maxIngresses) this.#removeGone();
      if (this.#received.size < maxIngresses) this.#received.set(from, { stats, at: performance.now() });
    });
    const timer = setInterval(() => publishIngressStats(broker, ingress, readStats()), statsMs);
    this.#stop = () => {
      clearInterval(timer);
      unsubscribe();
    };
  }

  /** Returns the last stats of each live ingress. */
  listCurrent(): IngressStats[] {
    this.#removeGone();
    return Array.from(this.#received.values(), ({ stats }) => stats);
  }

  #removeGone(): void {
    const oldest = performance.now() - goneAfterMs;
    for (const [ingress, { at }] of this.#received) {
      if (at >= oldest) return;
      this.#received.delete(ingress);
    }
  }

  close(): void {
    this.#stop();
  }
}
