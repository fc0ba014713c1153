import { z } from 'zod';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';

const count = z.number().int().positive();
const dollars = z.number().positive();

/**
 * The limits of a key, a person or a team. An absent field sets no limit. Days and months are in UTC. A request must be within the limits
 * of its key and the limits of the key's owner.
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
export const storedLimitsSchema = createStoredSchema(z.object(limitsSchema.shape));

/**
 * How many requests of a key, a person or a team a queue serves for each request of another with the weight 1. The weight of a key is
 * relative to the other keys of its owner. The weight of a person or team is relative to all other owners.
 */
export const weightSchema = z
  .number()
  .int()
  .min(1)
  .max(100)
  .describe('Turns in the queue for each turn of another with the weight 1.');

/** A weight as read from the store. An invalid weight counts as 1. */
export const storedWeightSchema = z.coerce.number().pipe(weightSchema).optional().catch(undefined);

/** The party to which limits belong: `key:<id>`, `user:<id>` or `team:<id>`. */
export type LimitedParty = `${'key' | 'user' | 'team'}:${string}`;

/** A party and its limits. The use of the party counts against these limits. */
export interface PartyLimits {
  readonly party: LimitedParty;
  readonly limits: Limits;
}
