import { openCredentialName, formatWorkerId, type WorkerAddress } from '../../contract/worker-address.ts';

/** Minimum milliseconds between two log lines about a budget that is used up. */
const reportMs = 60_000;

/** If there are more budgets than this, and twice as many as after the last time, budgets without recent use are dropped. */
const minSweepAbove = 1_000;

/** The amounts that the workers of one credential may use together. */
export interface CredentialRateSettings {
  /** The amount that may be used at once. */
  burst: number;
  /** The amount that becomes available again each second. */
  perSecond: number;
  /** The minimum amount that each use counts. */
  minCost: number;
}

interface Rate {
  /** The amount that was available at `measuredAt`. Times are milliseconds of `performance.now()`. */
  available: number;
  measuredAt: number;
  reportedAt: number;
}

/**
 * Computes the key of the budget that a worker uses. There is one budget for each credential. A worker without a credential has its own
 * budget.
 */
export function computeBudgetKey(address: WorkerAddress): string {
  return address.credentialName === openCredentialName ? formatWorkerId(address) : `${address.credentialName}.`;
}

/**
 * Limits the amounts that the workers of one credential use in this process. Workers that send requests all the time then delay only the
 * workers of their own credential.
 */
export class CredentialRates {
  readonly #settings: CredentialRateSettings;
  readonly #rates = new Map<string, Rate>();
  #sweepAbove = minSweepAbove;

  constructor(settings: CredentialRateSettings) {
    this.#settings = settings;
  }

  /**
   * Uses an amount of the worker's budget.
   * @param perSecond the amount that becomes available again each second, if it is more for this credential than in the settings
   * @returns `allowed` if the budget has the amount; otherwise `report` if the refusal must be logged, or `late` if it was logged lately
   */
  use(
    address: WorkerAddress,
    amount: number,
    now = performance.now(),
    perSecond = this.#settings.perSecond,
  ): 'allowed' | 'late' | 'report' {
    const { burst, minCost } = this.#settings;
    const key = computeBudgetKey(address);
    const rate = this.#rates.get(key) ?? this.#add(key, { available: burst, measuredAt: now, reportedAt: -Infinity });
    rate.available = this.#computeAvailable(rate, now, perSecond);
    rate.measuredAt = now;
    const cost = Math.max(minCost, amount);
    if (rate.available >= cost) {
      rate.available -= cost;
      return 'allowed';
    }
    if (now - rate.reportedAt < reportMs) return 'late';
    rate.reportedAt = now;
    return 'report';
  }

  /** Returns an amount to the budget, because `use` has taken it and it was not needed. */
  refund(address: WorkerAddress, amount: number): void {
    const rate = this.#rates.get(computeBudgetKey(address));
    if (rate) rate.available += amount;
  }

  /** Adds a budget. If there are many, first drops the budgets that are full again, because they equal new budgets. */
  #add(key: string, rate: Rate): Rate {
    if (this.#rates.size >= this.#sweepAbove) {
      for (const [name, other] of this.#rates)
        if (this.#computeAvailable(other, rate.measuredAt) >= this.#settings.burst) this.#rates.delete(name);
      this.#sweepAbove = Math.max(minSweepAbove, 2 * this.#rates.size);
    }
    this.#rates.set(key, rate);
    return rate;
  }

  #computeAvailable({ available, measuredAt }: Rate, now: number, perSecond = this.#settings.perSecond): number {
    return Math.min(this.#settings.burst, available + ((now - measuredAt) / 1_000) * perSecond);
  }
}
