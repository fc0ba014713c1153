import { z } from 'zod';
import { storedJson } from '../redis/stored-value.ts';

const count = z.number().int().positive();
const dollars = z.number().positive();

/**
 * What somebody may use at most. What is absent is not limited. Days and months are those of UTC.
 * A key, a person and a team each have limits of their own, and a request must be within all that concern it.
 */
export const limitsSchema = z.strictObject({
  requestsPerMinute: count.optional(),
  /** Input and output together, as in every other count of tokens here. */
  tokensPerMinute: count.optional(),
  /** Requests at the same time. */
  concurrentRequests: count.optional(),
  tokensPerDay: count.optional(),
  tokensPerMonth: count.optional(),
  /** US dollars, by the price table. */
  costPerDay: dollars.optional(),
  costPerMonth: dollars.optional(),
});

export type Limits = z.infer<typeof limitsSchema>;

/** Every limit's name. */
export const limitNames = Object.keys(limitsSchema.shape) as readonly (keyof Limits)[];

/** Limits as they are read from the store: those that only another release knows do not count here. */
export const storedLimitsSchema = storedJson(z.object(limitsSchema.shape));

/**
 * How many turns a key, a person or a team has in a queue for each one of another with the weight 1. Among the keys of one owner, the
 * key's counts; among owners, the owner's.
 */
export const weightSchema = z.number().int().min(1).max(100);

/** A weight as it is read from the store: one that is not valid counts as 1. */
export const storedWeightSchema = z.coerce.number().pipe(weightSchema).optional().catch(undefined);

/** Whose limits they are: `key:<id>`, `user:<id>` or `team:<id>`. */
export type LimitedParty = `${'key' | 'user' | 'team'}:${string}`;

/** Limits and the party whose use is counted against them. */
export interface PartyLimits {
  readonly party: LimitedParty;
  readonly limits: Limits;
}
