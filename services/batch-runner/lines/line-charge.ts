import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import type { LimitKeeper, Reservation } from '#shared/accounts/limits/limit-keeper.ts';
import type { Amount } from '#shared/accounts/limits/party-use.ts';
import type { LineUsage } from '#shared/accounts/batches/batch-record.ts';
import type { PriceLookup } from '#shared/serving/estimate-amount.ts';
import { computeRequestCost, buildUsageRecord, type FinishedRequest } from '#shared/serving/usage-record.ts';

/**
 * Collects the tokens, cost and reservations of one try of a line or one run of a response. Tokens and cost do not count against limits
 * until the result is recorded. A try without a recorded result is repeated, and must not count.
 */
export class LineCharge {
  readonly #priceOf: PriceLookup;
  readonly #limits: Pick<LimitKeeper, 'reserve'>;
  readonly #reservations: { reservation: Reservation; spent: Amount | undefined }[] = [];
  /** The requests in the form that the usage ledger stores. */
  readonly records: UsageRecord[] = [];

  constructor(limits: Pick<LimitKeeper, 'reserve'>, priceOf: PriceLookup) {
    this.#limits = limits;
    this.#priceOf = priceOf;
  }

  /**
   * A limit keeper for the requests of the line. Committing one of its reservations only records the amount that was spent; `commit` or
   * `release` of this charge ends the reservation.
   */
  readonly limits: Pick<LimitKeeper, 'reserve'> = {
    reserve: async (parties, amount) => {
      const verdict = await this.#limits.reserve(parties, amount);
      if (!verdict.granted) return verdict;
      const entry: { reservation: Reservation; spent: Amount | undefined } = {
        reservation: verdict.reservation,
        spent: undefined,
      };
      this.#reservations.push(entry);
      const reservation: Reservation = {
        commit: (spent) => {
          entry.spent = spent;
        },
        release: () => undefined,
      };
      return { ...verdict, reservation };
    },
  };

  readonly record = (request: FinishedRequest): void => {
    const cost = computeRequestCost(request, this.#priceOf);
    const { promptTokens, completionTokens } = request.usage;
    request.reservation?.commit({ tokens: promptTokens + completionTokens, cost });
    this.records.push(buildUsageRecord(request, cost));
  };

  get usage(): LineUsage {
    const usage = { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0, cost: 0 };
    for (const record of this.records) {
      usage.promptTokens += record.promptTokens;
      usage.cachedTokens += record.cachedTokens;
      usage.completionTokens += record.completionTokens;
      usage.reasoningTokens += record.reasoningTokens;
      usage.cost += record.cost;
    }
    return usage;
  }

  /** Commits each reservation with the amount that was spent. Releases the reservations without such an amount. */
  commit(): void {
    for (const { reservation, spent } of this.#reservations) {
      if (spent) reservation.commit(spent);
      else reservation.release();
    }
  }

  /**
   * Releases the reservations without counting anything. Call it if the line is tried again, or if its result had been recorded already.
   */
  release(): void {
    for (const { reservation } of this.#reservations) reservation.release();
  }
}
