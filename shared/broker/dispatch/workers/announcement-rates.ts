import { openOwner, workerIdOf, type WorkerAddress } from '../../contract/worker-address.ts';

/** Maximum bytes that are parsed for an owner at once: what a dispatcher parses within 0.4 s. */
const maxBurst = 4 * 1024 * 1024;

/** Bytes that are parsed for an owner in each further second: 5 % of a dispatcher's time. */
const bytesPerSecond = 512 * 1024;

/** The minimum that an announcement counts as: a thousand workers of one owner may come at once. */
const minBytes = 4 * 1024;

/** Milliseconds between two log lines about an owner whose announcements are not parsed. */
const reportMs = 60_000;

/** Number of owners above which those without recent announcements are dropped. */
const sweepAt = 1_000;

interface Rate {
  left: number;
  at: number;
  reportedAt: number;
}

/**
 * Limits what parsing one owner's announcements costs a dispatcher, so that an owner whose workers change all the time delays only them.
 * An announcement that is not parsed now is requested again after a later heartbeat. A worker without a credential is its own owner.
 */
export class AnnouncementRates {
  readonly #rates = new Map<string, Rate>();

  /**
   * Takes an announcement from the owner's budget: `read` if it may be parsed. If not: `report` if that must be logged, otherwise
   * `late`.
   */
  take(address: WorkerAddress, bytes: number, now = performance.now()): 'read' | 'late' | 'report' {
    const key = address.owner === openOwner ? workerIdOf(address) : `${address.owner}.`;
    const before = this.#rates.get(key) ?? { left: maxBurst, at: now, reportedAt: -Infinity };
    const left = leftAt(before, now);
    const cost = Math.max(minBytes, bytes);
    if (left >= cost) {
      this.#rates.set(key, { ...before, left: left - cost, at: now });
      if (this.#rates.size > sweepAt) this.#sweep(now);
      return 'read';
    }
    if (now - before.reportedAt < reportMs) return 'late';
    this.#rates.set(key, { left, at: now, reportedAt: now });
    return 'report';
  }

  /** Drops owners whose budget is full again, which is the state of a new owner. */
  #sweep(now: number): void {
    for (const [key, rate] of this.#rates) if (leftAt(rate, now) >= maxBurst) this.#rates.delete(key);
  }
}

function leftAt({ left, at }: Rate, now: number): number {
  return Math.min(maxBurst, left + ((now - at) / 1_000) * bytesPerSecond);
}
