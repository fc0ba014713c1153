import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import type { LimitKeeper, Reservation } from '#shared/accounts/limits/limit-keeper.ts';
import type { Amount } from '#shared/accounts/limits/party-use.ts';
import type { LineUsage } from '#shared/accounts/batches/batch-work.ts';
import type { PriceOf } from '#shared/serving/estimate-amount.ts';
import { costOfRequest, usageRecordOf, type FinishedRequest } from '#shared/serving/usage-record-of.ts';

/**
 * What the requests of one line came to, in one execution of it. It counts against limits once the line's result is recorded, or not at
 * all: a line may be executed more than once.
 */
export class LineCharge {
  readonly #priceOf: PriceOf;
  readonly #limits: Pick<LimitKeeper, 'reserve'>;
  readonly #reserved: { reservation: Reservation; spent: Amount | undefined }[] = [];
  /** The requests as the usage ledger keeps them. */
  readonly records: UsageRecord[] = [];

  constructor(limits: Pick<LimitKeeper, 'reserve'>, priceOf: PriceOf) {
    this.#limits = limits;
    this.#priceOf = priceOf;
  }

  /** Reserves as the keeper does, and holds what is reserved until the line is over. */
  readonly limits: Pick<LimitKeeper, 'reserve'> = {
    reserve: async (parties, amount) => {
      const verdict = await this.#limits.reserve(parties, amount);
      if (!verdict.granted) return verdict;
      const held: { reservation: Reservation; spent: Amount | undefined } = {
        reservation: verdict.reservation,
        spent: undefined,
      };
      this.#reserved.push(held);
      const reservation: Reservation = {
        commit: (spent) => {
          held.spent = spent;
        },
        release: () => undefined,
      };
      return { ...verdict, reservation };
    },
  };

  /** Takes a request that is over. */
  readonly record = (request: FinishedRequest): void => {
    const cost = costOfRequest(request, this.#priceOf);
    const { promptTokens, completionTokens } = request.usage;
    request.reservation?.commit({ tokens: promptTokens + completionTokens, cost });
    this.records.push(usageRecordOf(request, cost));
  };

  /** All requests together. */
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

  /** Counts what was spent against the limits. */
  commit(): void {
    for (const { reservation, spent } of this.#reserved) {
      if (spent) reservation.commit(spent);
      else reservation.release();
    }
  }

  /** Counts nothing: the line is executed again, or its result was recorded before. */
  release(): void {
    for (const { reservation } of this.#reserved) reservation.release();
  }
}
