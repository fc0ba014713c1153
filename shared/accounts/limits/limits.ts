import { z } from 'zod';
import { storedJson } from '../redis/stored-value.ts';

const count = z.number().int().positive();
const dollars = z.number().positive();

/**
 * The most that a key, a person or a team may use. An absent limit does not limit. Days and months are those of UTC. A request must be
 * within the limits of its key and of the key's owner.
 */
export const limitsSchema = z.strictObject({
  requestsPerMinute: count.optional(),
  /** Input and output tokens together, as in all limits of tokens. */
  tokensPerMinute: count.optional(),
  concurrentRequests: count.optional(),
  tokensPerDay: count.optional(),
  tokensPerMonth: count.optional(),
  /** In US dollars, computed with the price table. */
  costPerDay: dollars.optional(),
  costPerMonth: dollars.optional(),
});

export type Limits = z.infer<typeof limitsSchema>;

export const limitNames = Object.keys(limitsSchema.shape) as readonly (keyof Limits)[];

/** Limits as read from the store. Limits that this release does not define are dropped. */
export const storedLimitsSchema = storedJson(z.object(limitsSchema.shape));

/**
 * How many turns a key, a person or a team has in a queue for each turn of another key, person or team with the weight 1. The weights of
 * keys count among the keys of one owner; the weights of owners count among owners.
 */
export const weightSchema = z.number().int().min(1).max(100);

/** A weight as read from the store. An invalid weight counts as 1. */
export const storedWeightSchema = z.coerce.number().pipe(weightSchema).optional().catch(undefined);

/** The party to which limits belong: `key:<id>`, `user:<id>` or `team:<id>`. */
export type LimitedParty = `${'key' | 'user' | 'team'}:${string}`;

/** Limits, and the party whose use counts against them. */
export interface PartyLimits {
  readonly party: LimitedParty;
  readonly limits: Limits;
}
