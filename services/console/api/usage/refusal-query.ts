import { z } from 'zod';
import { findBeginning, findNextBeginning } from '#shared/accounts/periods.ts';
import { refusalSteps } from '#shared/accounts/refusals/refusal-periods.ts';
import { refusalGroups } from '#shared/accounts/refusals/refusal-reader.ts';

const maxSteps = 400;

const time = z.coerce.number({ error: 'must be milliseconds since 1970' }).int().min(0).max(8.64e15);
const name = z.string().min(1).max(256).optional();

/** The query of `GET /usage/refusals`. */
export const refusalQuery = z
  .object({
    from: time,
    to: time,
    step: z.enum(refusalSteps).default('day'),
    by: z.enum(refusalGroups).default('code'),
    code: name,
    key: name,
    team: name,
    user: name,
  })
  .refine(({ from, to }) => from < to, { path: ['to'], error: 'must be later than from' })
  .refine(
    ({ from, to, step }) => {
      const beginning = findBeginning(step, from);
      return to - beginning <= maxSteps * (findNextBeginning(step, beginning) - beginning);
    },
    { path: ['from'], error: `is too long ago: a report has ${maxSteps} steps at most` },
  );
