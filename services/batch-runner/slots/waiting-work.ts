import { emptyIngressStats, publishIngressStats } from '#shared/broker/contract/ingress-stats.ts';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import type { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import { countWaitingByTier, countUnplaced, type WaitingUnplaced } from '#shared/broker/dispatch/waiting-counts.ts';
import type { Tier } from '#shared/core/tier.ts';

/** Milliseconds between two reports. */
const everyMs = 1_000;

/**
 * Publishes the work that waits for workers at this runner, so that an autoscaler starts workers. Ingress nodes receive the numbers as
 * ingress stats. A line counts only while no live worker can serve it. Any other line only waits for a free slot, even if it waits for
 * long.
 */
export class WaitingWork {
  /** Tiers that may serve each line that no live worker can serve. */
  readonly #lines = new Map<object, readonly Tier[]>();
  readonly #timer: NodeJS.Timeout;

  /** @param id name of this process, which must be a valid token of a subject */
  constructor(broker: Broker, id: string, dispatcher: Pick<Dispatcher, 'jobs'>) {
    this.#timer = setInterval(() => {
      const countByTier = this.#countByTier(dispatcher);
      if (Object.keys(countByTier).length === 0) return;
      const jobs = [...dispatcher.jobs()].filter(({ state }) => state === 'queued');
      const waiting = jobs.length + this.#lines.size;
      const unplaced = [...countUnplaced(jobs), ...this.#countUnplacedLines()];
      const stats = { ...emptyIngressStats, at: Date.now(), waiting, unplaced, waitingByTier: countByTier };
      publishIngressStats(broker, id, stats);
    }, everyMs);
  }

  /** Records the tiers that may serve a line while no live worker can; an empty list removes the line. */
  setTiers(line: object, tiers: readonly Tier[]): void {
    if (tiers.length > 0) this.#lines.set(line, tiers);
    else this.#lines.delete(line);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  #countUnplacedLines(): WaitingUnplaced[] {
    const counts = Map.groupBy([...this.#lines.values()].flat(), (tier) => tier);
    return Array.from(counts, ([tier, lines]) => ({ tier, class: 'low', waiting: lines.length }));
  }

  #countByTier(dispatcher: Pick<Dispatcher, 'jobs'>): Partial<Record<Tier, number>> {
    const counts = countWaitingByTier(dispatcher.jobs());
    for (const tiers of this.#lines.values()) for (const tier of tiers) counts[tier] = (counts[tier] ?? 0) + 1;
    return counts;
  }
}
