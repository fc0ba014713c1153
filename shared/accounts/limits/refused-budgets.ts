import type { Redis } from 'ioredis';
import type { Logger } from '#shared/core/log.ts';
import { callRedis } from '#shared/store/redis/call-redis.ts';
import { findBeginning, findNextBeginning, toPeriodName, type TotalsUnit } from '../periods.ts';
import type { LimitedParty } from './limits.ts';
import type { LimitName } from './measures.ts';

/** Milliseconds after the end of a period for which its refused budgets are kept. */
const keptMs = 24 * 3_600_000;

/** Maximum number of recorded budgets in memory. */
const maxRemembered = 10_000;

const units: readonly TotalsUnit[] = ['day', 'month'];

export interface RefusedBudget {
  party: LimitedParty;
  name: LimitName;
  /** The limit in the unit in which it is set. */
  set: number;
}

/**
 * The budgets that have refused requests in each day and month, in Redis. A process records a budget once in a period, so that a flood of
 * refused requests costs nothing.
 */
export class RefusedBudgets {
  readonly #redis: Redis;
  readonly #prefix: string;
  readonly #log: Logger;
  readonly #recorded = new Set<string>();

  /** @param prefix start of all names of limits in Redis */
  constructor(redis: Redis, prefix: string, log: Logger) {
    this.#redis = redis;
    this.#prefix = prefix;
    this.#log = log;
  }

  /** Records budgets in the period that contains a time, in ms since 1970. The caller does not wait for Redis. */
  note(budgets: readonly RefusedBudget[], at: number): void {
    for (const budget of budgets) {
      const unit = budget.name.endsWith('PerDay') ? 'day' : 'month';
      const field = toBudgetField(budget);
      const name = this.#toName(unit, at);
      const recordKey = `${name} ${field}`;
      if (this.#recorded.has(recordKey)) continue;
      if (this.#recorded.size >= maxRemembered) this.#recorded.clear();
      this.#recorded.add(recordKey);
      const expiresAt = findNextBeginning(unit, at) + keptMs;
      const noted = this.#redis.multi().hset(name, field, at).pexpireat(name, expiresAt).exec();
      noted.catch((error: unknown) => {
        this.#recorded.delete(recordKey);
        this.#log.debug({ err: error }, 'a budget that refuses requests is not noted yet');
      });
    }
  }

  /**
   * Returns the budgets that were recorded in the day and the month of a time. Each text consists of the period and the result of
   * `toBudgetField`, such as `2026-11-21 team:… costPerDay 5`.
   * @throws RouterError `store_unavailable`
   */
  async read(at: number): Promise<ReadonlySet<string>> {
    const texts = await Promise.all(
      units.map(async (unit) => {
        const fields = await callRedis(this.#redis.hkeys(this.#toName(unit, at)));
        return fields.map((field) => `${findPeriodName(unit, at)} ${field}`);
      }),
    );
    return new Set(texts.flat());
  }

  #toName(unit: TotalsUnit, at: number): string {
    return `${this.#prefix}refused:${findPeriodName(unit, at)}`;
  }
}

function findPeriodName(unit: TotalsUnit, at: number): string {
  return toPeriodName(unit, findBeginning(unit, at));
}

/** Returns a budget as the name of a field. A budget whose limit was changed counts as another budget. */
export function toBudgetField({ party, name, set }: RefusedBudget): string {
  return `${party} ${name} ${set}`;
}
