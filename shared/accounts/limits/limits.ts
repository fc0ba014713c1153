import { z } from 'zod';
import { storedJson } from '../redis/stored-value.ts';

const count = z.number().int().positive();
const dollars = z.number().positive();

/**
 * The most that somebody may use. An absent limit does not limit. Days and months are those of UTC.
 * A key, a person and a team each have limits of their own, and a request must be within all that concern it.
 */
export const limitsSchema = z.strictObject({
  requestsPerMinute: count.optional(),
  /** Input and output together, as in every other count of tokens here. */
  tokensPerMinute: count.optional(),
  concurrentRequests: count.optional(),
  tokensPerDay: count.optional(),
  tokensPerMonth: count.optional(),
  /** US dollars, by the price table. */
  costPerDay: dollars.optional(),
  costPerMonth: dollars.optional(),
});

export type Limits = z.infer<typeof limitsSchema>;

export const limitNames = Object.keys(limitsSchema.shape) as readonly (keyof Limits)[];

/** Limits as read from the store: those that this release does not define do not count. */
export const storedLimitsSchema = storedJson(z.object(limitsSchema.shape));

/**
 * How often a key, a person or a team is next in line in a queue for each time that another one with the weight 1 is. Among the keys of one
 * owner, the key's weight counts; among owners, the owner's.
 */
export const weightSchema = z.number().int().min(1).max(100);

/** A weight as read from the store: an invalid one counts as 1. */
export const storedWeightSchema = z.coerce.number().pipe(weightSchema).optional().catch(undefined);

/** The party that limits belong to: `key:<id>`, `user:<id>` or `team:<id>`. */
export type LimitedParty = `${'key' | 'user' | 'team'}:${string}`;

/** Limits, and the party whose use counts against them. */
export interface PartyLimits {
  readonly party: LimitedParty;
  readonly limits: Limits;
}
