import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { onIngressStats, type IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { RecentSums } from '#shared/core/metrics/recent-sums.ts';

/** Seconds over which requests are counted. */
export const windowSeconds = 300;

/** Milliseconds after which an ingress that sent nothing is forgotten: its stats are of one minute. */
const silentMs = 60_000;

/** Requests of the last five minutes that came to an end, and those of them that the router or an upstream failed. */
export interface ErrorsSeen {
  requests: number;
  faults: number;
  /** Whether the whole of the five minutes is counted. */
  isWhole: boolean;
}

/**
 * What a batch runner knows of the failures of requests, from what ingress nodes tell each other each second. One that has just begun to
 * listen knows the last minute.
 */
export class ErrorView {
  readonly #requests = new RecentSums(windowSeconds);
  readonly #faults = new RecentSums(windowSeconds);
  /** Of each ingress, the end of the last second that is counted, by its own clock, and when that came. */
  readonly #counted = new Map<string, { until: number; at: number }>();
  readonly #stopListening: () => void;
  readonly #since = performance.now();

  constructor(broker: Broker) {
    this.#stopListening = onIngressStats(broker, (ingress, stats) => this.#onStats(ingress, stats));
  }

  close(): void {
    this.#stopListening();
  }

  /** @param now in ms since 1970 */
  read(now = Date.now()): ErrorsSeen {
    const second = Math.floor(now / 1_000);
    const isWhole = performance.now() - this.#since >= windowSeconds * 1_000;
    return { requests: this.#requests.total(second), faults: this.#faults.total(second), isWhole };
  }

  /** Counts the seconds that were not counted yet, by the clock of this process. */
  #onStats(ingress: string, { at: until, requests, faults }: IngressStats): void {
    if (!faults) return;
    const now = performance.now();
    const before = this.#counted.get(ingress);
    for (const [name, { at }] of this.#counted) if (now - at > silentMs) this.#counted.delete(name);
    if (before && until <= before.until && now - before.at <= silentMs) return;
    const fresh = before ? Math.round((until - before.until) / 1_000) : requests.length;
    this.#counted.set(ingress, { until, at: now });
    const second = Math.floor(Date.now() / 1_000);
    for (let ago = 1; ago <= Math.min(fresh, requests.length); ago += 1) {
      this.#requests.add(second - ago, requests.at(-ago) ?? 0);
      this.#faults.add(second - ago, faults.at(-ago) ?? 0);
    }
  }
}
