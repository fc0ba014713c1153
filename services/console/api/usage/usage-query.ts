import { z } from 'zod';
import { purposes } from '#shared/core/purpose.ts';
import { hourGroups, maxHours } from '#shared/accounts/ledger/hour-groups.ts';
import { usageGroups } from '#shared/accounts/ledger/usage-filter.ts';
import { findBeginning, findNextBeginning } from '#shared/accounts/periods.ts';
import { refusalSteps, type RefusalStep } from '#shared/accounts/ledger/refusals/refusal-counts.ts';
import { refusalGroups } from '#shared/accounts/ledger/refusals/refusal-reader.ts';

/** The maximum number of steps in a report. It suffices for the days of a year. */
const maxSteps = 400;

const hourMs = 3_600_000;

const time = z.coerce.number({ error: 'must be milliseconds since 1970' }).int().min(0).max(8.64e15);
const from = time.describe('The time from which requests count');
const to = time.describe('The time until which requests count');
const groups = 'What the sums are over';
const steps = 'The time of one sum';
const name = z.string().min(1).max(256).optional();
const filter = {
  model: name.describe('Only requests of this model.'),
  key: name.describe('Only requests with the key of this id.'),
  team: name.describe('Only requests of this team.'),
  user: name.describe('Only requests of this person.'),
  tier: name.describe('Only requests of this tier.'),
  purpose: z.enum(purposes).optional().describe('Only requests for this purpose.'),
};
const ownerFilter = { key: filter.key, team: filter.team, user: filter.user };
const requestFilter = {
  ...filter,
  outcome: z.enum(['done', 'failed', 'cancelled']).optional().describe('Only requests with this outcome.'),
  code: name.describe('Only requests that ended with this code of the error table.'),
  recorded: z
    .enum(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .describe('Only requests that were recorded.'),
};

/**
 * The form of a cursor, which is an id in the ledger's stream. Excludes ids with the time 0, because Redis refuses to read before the first
 * possible id.
 */
export const ledgerCursorForm = /^[1-9]\d{0,15}-\d{1,16}$/;

const cursor = z.string().regex(ledgerCursorForm).optional();

const forwardOnly = { path: ['to'], error: 'must be later than from' };
const fewSteps = { path: ['from'], error: `is too long ago: a report has ${maxSteps} steps at most` };

function isForward({ from, to }: { from: number; to: number }): boolean {
  return from < to;
}

function hasFewSteps({ from, to, step }: { from: number; to: number; step: RefusalStep }): boolean {
  const beginning = findBeginning(step, from);
  return to - beginning <= maxSteps * (findNextBeginning(step, beginning) - beginning);
}

/** The query of `GET /usage`. */
export const reportQuery = z
  .object({
    from,
    to,
    step: z.enum(['day', 'month']).default('day').describe(steps),
    by: z.enum(usageGroups).default('model').describe(groups),
    ...filter,
  })
  .refine(isForward, forwardOnly)
  .refine(hasFewSteps, fewSteps);

/** The query of `GET /usage/hours`. */
export const hoursQuery = z
  .object({ from, to, by: z.enum(hourGroups).default('model').describe(groups), ...ownerFilter })
  .refine(isForward, forwardOnly)
  .refine(({ from, to }) => to - from < (maxHours - 1) * hourMs, {
    path: ['from'],
    error: `is too long ago: hours are kept for ${maxHours / 24} days`,
  })
  .refine(({ by, key, team, user }) => by !== 'model' || [key, team, user].every((each) => each === undefined), {
    path: ['by'],
    error: 'must not be model if key, team or user is given: the hours of a model are sums over all keys',
  });

/** The query of `GET /usage/requests`. */
export const requestsQuery = z.object({
  before: cursor,
  after: cursor,
  limit: z.coerce.number().int().min(1).max(200).default(50),
  from: from.optional(),
  to: to.optional(),
  ...requestFilter,
});

/** The query of `GET /usage/overview`. */
export const overviewQuery = z.object({ span: z.enum(['1h', '24h', '7d']).default('24h') });

/** The query of `GET /usage/export`. */
export const exportQuery = z.object({ format: z.enum(['csv', 'json']), from, to, ...requestFilter });

/** The query of `GET /usage/refusals`. */
export const refusalQuery = z
  .object({
    from,
    to,
    step: z.enum(refusalSteps).default('day').describe(steps),
    by: z.enum(refusalGroups).default('code').describe(groups),
    code: name.describe('Only requests that were refused with this code of the error table.'),
    ...ownerFilter,
  })
  .refine(isForward, forwardOnly)
  .refine(hasFewSteps, fewSteps);
