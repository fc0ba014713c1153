import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import { onIngressStats, type IngressStats } from '#shared/broker/contract/ingress-stats.ts';
import { RecentSums } from '#shared/core/metrics/recent-sums.ts';

/** Number of seconds over which requests are counted. */
export const windowSeconds = 300;

/**
 * Milliseconds without stats after which an ingress is forgotten. All seconds of its next stats are then new, because stats cover a minute.
 */
const forgottenMs = 60_000;

/** Requests that ended in the last five minutes, and how many of them failed through the router or an upstream. */
export interface ErrorRateSnapshot {
  requests: number;
  faults: number;
  /** Whether this process has listened for the whole five minutes. */
  isWhole: boolean;
}

/**
 * Counts requests and failed requests from the stats that ingress nodes publish each second. Right after the start of this process, only
 * the last minute is counted, because stats cover one minute.
 */
export class ErrorView {
  readonly #requests = new RecentSums(windowSeconds);
  readonly #faults = new RecentSums(windowSeconds);
  /**
   * By ingress: `until` is the end of the last counted second, by the clock of the ingress; `at` is the time at which its stats arrived.
   */
  readonly #counted = new Map<string, { until: number; at: number }>();
  readonly #stopListening: () => void;
  readonly #since = performance.now();

  constructor(broker: Broker) {
    this.#stopListening = onIngressStats(broker, (ingress, stats) => this.#addStats(ingress, stats));
  }

  close(): void {
    this.#stopListening();
  }

  /**
   * Returns the counts of the last five minutes.
   * @param now in ms since 1970
   */
  read(now = Date.now()): ErrorRateSnapshot {
    const second = Math.floor(now / 1_000);
    const isWhole = performance.now() - this.#since >= windowSeconds * 1_000;
    return { requests: this.#requests.totalUpTo(second), faults: this.#faults.totalUpTo(second), isWhole };
  }

  /** Adds the seconds of the stats that were not counted yet, dated by the clock of this process. */
  #addStats(ingress: string, { at: until, requests, faults }: IngressStats): void {
    const now = performance.now();
    const counted = this.#counted.get(ingress);
    for (const [name, { at }] of this.#counted) if (now - at > forgottenMs) this.#counted.delete(name);
    if (counted && until <= counted.until && now - counted.at <= forgottenMs) return;
    const newSeconds = counted ? Math.round((until - counted.until) / 1_000) : requests.length;
    this.#counted.set(ingress, { until, at: now });
    const second = Math.floor(Date.now() / 1_000);
    for (let ago = 1; ago <= Math.min(newSeconds, requests.length); ago += 1) {
      this.#requests.add(second - ago, requests.at(-ago) ?? 0);
      this.#faults.add(second - ago, faults.at(-ago) ?? 0);
    }
  }
}
