import { openCredentialName, formatWorkerId, type WorkerAddress } from '../../contract/worker-address.ts';

/** Minimum milliseconds between two log lines about a payer that has used too much. */
const reportMs = 60_000;

/** Number of payers above which those without recent use are dropped. */
const sweepAbove = 1_000;

/** The amounts that the workers of one credential may use together. */
export interface CredentialRateSettings {
  /** The amount that may be used at once. */
  burst: number;
  /** The amount that is added in each further second. */
  perSecond: number;
  /** The minimum amount that each use counts. */
  minCost: number;
}

interface Rate {
  /** The amount that is left at the time `at`, in milliseconds of `performance.now()`. */
  left: number;
  at: number;
  reportedAt: number;
}

/** Returns the key of the budget that a worker uses: one budget for each credential. A worker without a credential has its own. */
export function findPayer(address: WorkerAddress): string {
  return address.credentialName === openCredentialName ? formatWorkerId(address) : `${address.credentialName}.`;
}

/**
 * Limits what the workers of one credential cost this process, so that workers that send requests all the time delay only the workers of
 * their credential.
 */
export class CredentialRates {
  readonly #settings: CredentialRateSettings;
  readonly #rates = new Map<string, Rate>();

  constructor(settings: CredentialRateSettings) {
    this.#settings = settings;
  }

  /**
   * Uses an amount of the worker's budget.
   * @returns `allowed` if the budget has the amount; otherwise `report` if the refusal must be logged, or `late` if it was logged lately
   */
  use(address: WorkerAddress, amount: number, now = performance.now()): 'allowed' | 'late' | 'report' {
    const { burst, minCost } = this.#settings;
    const key = findPayer(address);
    const before = this.#rates.get(key) ?? { left: burst, at: now, reportedAt: -Infinity };
    const left = this.#computeLeft(before, now);
    const cost = Math.max(minCost, amount);
    if (left >= cost) {
      this.#rates.set(key, { ...before, left: left - cost, at: now });
      if (this.#rates.size > sweepAbove) this.#sweep(now);
      return 'allowed';
    }
    if (now - before.reportedAt < reportMs) return 'late';
    this.#rates.set(key, { left, at: now, reportedAt: now });
    return 'report';
  }

  /** Returns an amount to the budget that `use` has taken and that was not needed. */
  refund(address: WorkerAddress, amount: number): void {
    const rate = this.#rates.get(findPayer(address));
    if (rate) rate.left += amount;
  }

  /** Drops payers whose budget is full again, because they are treated like new payers. */
  #sweep(now: number): void {
    for (const [key, rate] of this.#rates) {
      if (this.#computeLeft(rate, now) >= this.#settings.burst) this.#rates.delete(key);
    }
  }

  #computeLeft({ left, at }: Rate, now: number): number {
    const { burst, perSecond } = this.#settings;
    return Math.min(burst, left + ((now - at) / 1_000) * perSecond);
  }
}
