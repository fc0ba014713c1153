import { z } from 'zod';
import { limitsSchema } from '#shared/accounts/limits/limits.ts';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { tiers } from '#shared/core/tier.ts';

/*
 * The rules of the contract between the console's pages and its API, and the fields that several answers have. All paths are below
 * `/console/api`. Times are milliseconds since 1970. A failure is `{ error: { code, message, field? } }` with an HTTP status; `field` names
 * the invalid input.
 *
 * Every request except GET carries the header `x-csrf-token` with the session's token.
 *
 * The Admin API answers with the schemas in this folder, and its document is generated from them. The operations in `api/` describe the
 * requests.
 */

export const time = z.number().describe('Milliseconds since 1970.');

/** The period of sums. A request belongs to the period in which it began. */
export const period = {
  from: time.describe('The beginning of the period, in milliseconds since 1970.'),
  to: time.describe('The end of the period, in milliseconds since 1970. This millisecond is not part of it.'),
};

export const limits = limitsSchema.meta({
  id: 'Limits',
  description: 'An absent limit does not apply. Days and months are those of UTC. Costs are US dollars.',
});
export const ceiling = z
  .object({
    models: z.array(z.string()).exactOptional(),
    tiers: z.array(z.enum(tiers)).exactOptional(),
    maxClass: z.enum(priorityClasses).exactOptional(),
  })
  .meta({
    id: 'Ceiling',
    description:
      'What a person or team may use at most, whatever their keys permit. An absent field does not restrict.',
  });
