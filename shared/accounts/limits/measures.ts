import { limitsSchema, type Limits } from './limits.ts';
import { nanoPerDollar } from '../money.ts';
import { bucketUnit, costLimit, type Amount, type PartyUse } from './party-use.ts';
import { nextBeginning } from '../periods.ts';

/** The name of one limit. */
export type LimitName = keyof Limits;

/** Every limit's name. */
export const limitNames = Object.keys(limitsSchema.shape) as readonly LimitName[];

/** One limit of a party beside what is used of it, all in the whole numbers that Redis counts in. */
export interface Measure {
  readonly limit: number;
  /** Used up for good, until it leaks away or the period ends. */
  readonly spent: number;
  /** Held for requests that are not over; some of it may come free any moment. */
  readonly held: number;
  /** What a request adds. */
  readonly wanted: number;
  /** A limit per minute leaks; a budget begins anew; what is held at once comes free. */
  readonly kind: 'rate' | 'budget' | 'concurrency';
  /** How much of it is one of what people count in: a request, a token, a dollar. */
  readonly unit: number;
  /** When nothing is used any more, in ms since 1970; undefined when nobody can know. */
  readonly resetsAt: number | undefined;
}

/** How one limit stands for a request; undefined where the party has no such limit. */
export function measure(name: LimitName, use: PartyUse, { tokens, cost }: Amount): Measure | undefined {
  const { limits, buckets, active, day, month, at } = use;
  const limit = limits[name];
  if (limit === undefined) return undefined;
  switch (name) {
    case 'requestsPerMinute':
      return rate(limit, buckets.requests, 1, at);
    case 'tokensPerMinute':
      return rate(limit, buckets.tokens, tokens, at);
    case 'concurrentRequests':
      return { kind: 'concurrency', limit, spent: 0, held: active, wanted: 1, unit: 1, resetsAt: undefined };
    case 'tokensPerDay':
      return budget(limit, day.spent.tokens, day.held.tokens, tokens, 1, nextBeginning('day', at));
    case 'tokensPerMonth':
      return budget(limit, month.spent.tokens, month.held.tokens, tokens, 1, nextBeginning('month', at));
    case 'costPerDay':
      return budget(costLimit(limit), day.spent.cost, day.held.cost, cost, nanoPerDollar, nextBeginning('day', at));
    case 'costPerMonth':
      return budget(
        costLimit(limit),
        month.spent.cost,
        month.held.cost,
        cost,
        nanoPerDollar,
        nextBeginning('month', at),
      );
  }
}

function rate(limit: number, level: number, wanted: number, at: number): Measure {
  return {
    kind: 'rate',
    limit: limit * bucketUnit,
    spent: level,
    held: 0,
    wanted: wanted * bucketUnit,
    unit: bucketUnit,
    resetsAt: at + Math.ceil(level / limit),
  };
}

function budget(limit: number, spent: number, held: number, wanted: number, unit: number, resetsAt: number): Measure {
  return { kind: 'budget', limit, spent, held, wanted, unit, resetsAt };
}
