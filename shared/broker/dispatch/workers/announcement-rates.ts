import { openOwner, workerIdOf, type WorkerAddress } from '../../contract/worker-address.ts';

/** Bytes that are read for an owner at once: what an ingress reads within 0.4 s. */
const maxBurst = 4 * 1024 * 1024;

/** Bytes that are read for an owner in a second, after that: 5 % of an ingress. */
const bytesPerSecond = 512 * 1024;

/** An announcement counts as this many bytes at least: a thousand workers of one owner may come at once. */
const minBytes = 4 * 1024;

/** Milliseconds between two reports of an owner whose announcements are not read. */
const reportMs = 60_000;

/** Owners after which those that announce nothing are forgotten. */
const sweepAt = 1_000;

interface Rate {
  /** Bytes left, at a time of `performance.now()`. */
  left: number;
  at: number;
  reportedAt: number;
}

/**
 * Bounds what reading the announcements of an owner costs an ingress, so that workers of one that change all the time are known late
 * themselves. What is not read now is asked for again, at a later beat. A worker without a credential is its own owner.
 */
export class AnnouncementRates {
  readonly #rates = new Map<string, Rate>();

  /** Whether an announcement may be read, which then counts; if not, whether that is to be reported. */
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

  /** Forgets owners that have used nothing lately: they would begin as new ones do. */
  #sweep(now: number): void {
    for (const [key, rate] of this.#rates) if (leftAt(rate, now) >= maxBurst) this.#rates.delete(key);
  }
}

function leftAt({ left, at }: Rate, now: number): number {
  return Math.min(maxBurst, left + ((now - at) / 1_000) * bytesPerSecond);
}
