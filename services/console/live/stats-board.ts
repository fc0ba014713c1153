import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { onIngressStats, publishIngressStats, type IngressStats } from '#shared/broker/contract/ingress-stats.ts';

const statsMs = 1_000;

/** Milliseconds after which an ingress that tells nothing is gone: three missed stats and a little. */
const goneAfterMs = 3_300;

/** Ingress nodes that are listened to at most. */
const maxIngresses = 1_000;

/** Tells everyone each second what this ingress has counted, and keeps the last that every ingress has told. */
export class StatsBoard {
  readonly #heard = new Map<string, { stats: IngressStats; at: number }>();
  readonly #stop: () => void;

  constructor(broker: Broker, ingress: string, read: () => IngressStats) {
    const unsubscribe = onIngressStats(broker, (from, stats) => {
      if (this.#heard.has(from) || this.#heard.size < maxIngresses) {
        this.#heard.set(from, { stats, at: performance.now() });
      }
    });
    const timer = setInterval(() => publishIngressStats(broker, ingress, read()), statsMs);
    this.#stop = () => {
      clearInterval(timer);
      unsubscribe();
    };
  }

  /** The last stats of each ingress that lives. */
  current(): IngressStats[] {
    const oldest = performance.now() - goneAfterMs;
    for (const [ingress, { at }] of this.#heard) if (at < oldest) this.#heard.delete(ingress);
    return Array.from(this.#heard.values(), ({ stats }) => stats);
  }

  close(): void {
    this.#stop();
  }
}
