import { openOwner, formatWorkerId, type WorkerAddress } from '../../contract/worker-address.ts';

/** Milliseconds between two log lines about an owner that has used too much. */
const reportMs = 60_000;

/** Number of owners above which those without recent use are dropped. */
const sweepAt = 1_000;

/** The amounts that the workers of an owner may use together. */
export interface OwnerRateSettings {
  /** The amount that may be used at once. */
  burst: number;
  /** The amount that is added in each further second. */
  perSecond: number;
  /** The minimum amount as which each use counts. */
  minCost: number;
}

interface Rate {
  /** The amount that is left at the time `at`, in milliseconds of `performance.now()`. */
  left: number;
  at: number;
  reportedAt: number;
}

/** Returns whose budget a worker uses, which is that of its owner. A worker without a credential pays for itself. */
export function payerOf(address: WorkerAddress): string {
  return address.owner === openOwner ? formatWorkerId(address) : `${address.owner}.`;
}

/**
 * Limits what the workers of one owner cost this process, so that an owner whose workers send requests all the time delays only these
 * workers.
 */
export class OwnerRates {
  readonly #settings: OwnerRateSettings;
  readonly #rates = new Map<string, Rate>();

  constructor(settings: OwnerRateSettings) {
    this.#settings = settings;
  }

  /**
   * Uses an amount of the budget of the worker's owner.
   * @returns `allowed` if the budget has the amount; otherwise `report` if that must be logged, or `late`
   */
  take(address: WorkerAddress, amount: number, now = performance.now()): 'allowed' | 'late' | 'report' {
    const { burst, minCost } = this.#settings;
    const key = payerOf(address);
    const before = this.#rates.get(key) ?? { left: burst, at: now, reportedAt: -Infinity };
    const left = this.#leftAt(before, now);
    const cost = Math.max(minCost, amount);
    if (left >= cost) {
      this.#rates.set(key, { ...before, left: left - cost, at: now });
      if (this.#rates.size > sweepAt) this.#sweep(now);
      return 'allowed';
    }
    if (now - before.reportedAt < reportMs) return 'late';
    this.#rates.set(key, { left, at: now, reportedAt: now });
    return 'report';
  }

  /** Returns an amount to the budget that `take` has used and that was not needed. */
  give(address: WorkerAddress, amount: number): void {
    const rate = this.#rates.get(payerOf(address));
    if (rate) rate.left += amount;
  }

  /** Drops owners whose budget is full again, because they are treated like new ones. */
  #sweep(now: number): void {
    for (const [key, rate] of this.#rates) {
      if (this.#leftAt(rate, now) >= this.#settings.burst) this.#rates.delete(key);
    }
  }

  #leftAt({ left, at }: Rate, now: number): number {
    const { burst, perSecond } = this.#settings;
    return Math.min(burst, left + ((now - at) / 1_000) * perSecond);
  }
}
