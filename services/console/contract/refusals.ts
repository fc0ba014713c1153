import { z } from 'zod';
import { period, time } from './conventions.ts';

/* The contract between the console's pages and its API: requests that were refused before a worker got them. */

const refusedBy = z.object({
  key: z
    .object({ id: z.string(), name: z.string() })
    .exactOptional()
    .describe('The id `other` stands for all keys beyond the maximum number that is counted separately.'),
  owner: z.object({ kind: z.enum(['user', 'team']), id: z.string(), name: z.string() }).exactOptional(),
});

/** The key and the owner of a request. Both are absent if the request named no known key. The owner is absent if the key has none. */
export type RefusedBy = z.output<typeof refusedBy>;

export type RefusalGroup = 'code' | 'key' | 'team' | 'user';

export const refusalSampleSchema = refusedBy
  .extend({
    at: time,
    id: z.string(),
    code: z.string(),
    status: z.number().describe('The HTTP status of the code in the error table.'),
    model: z
      .string()
      .optional()
      .describe('The requested model. Absent if it was not read or does not look like a name.'),
    message: z.string().optional().describe("The error's message. Absent if it could quote the request."),
  })
  .meta({ id: 'RefusalSample', description: 'A single refused request.' });

export type RefusalSample = z.output<typeof refusalSampleSchema>;

export const refusalReportSchema = z
  .object({
    ...period,
    step: z.enum(['hour', 'day', 'month']),
    times: z.array(time).describe('The start of each step, oldest first.'),
    groups: z
      .array(
        z.object({
          id: z.string(),
          name: z.string(),
          count: z.number(),
          steps: z.array(z.number()),
          rows: z
            .array(refusedBy.extend({ code: z.string(), count: z.number() }))
            .describe('The ten largest parts of the group.'),
        }),
      )
      .describe('The largest group comes first. With `by=code`, `id` and `name` are the code of the error table.'),
    total: z.number(),
    samples: z
      .array(refusalSampleSchema)
      .describe('A few of the newest refused requests, at most one for each key, code and minute.'),
  })
  .meta({ id: 'RefusalReport' });

/**
 * `GET /usage/refusals?from=<ms>&to=<ms>&step=hour|day|month&by=<RefusalGroup>`, with the optional filters `code=`, `key=`, `team=` and
 * `user=`: the requests that were answered with an error before a worker got them. No other answer about usage counts them. `step`
 * defaults to `day` and `by` to `code`. Hours are kept for eight days, days for 90.
 */
export type RefusalReport = z.output<typeof refusalReportSchema>;
