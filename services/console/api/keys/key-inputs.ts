import { z } from 'zod';
import { keyKinds, type KeyKind } from '#shared/accounts/keys/key-format.ts';
import { keyToolsSchema } from '#shared/accounts/keys/key-record.ts';
import { limitsSchema, weightSchema } from '#shared/accounts/limits/limits.ts';
import { displayNameSchema } from '#shared/accounts/people/user.ts';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { tiers } from '#shared/core/tier.ts';
import { ApiFailure } from '../api-failure.ts';

/** The maximum time in milliseconds for which a replaced key, or a replaced secret of a webhook, stays valid: 30 days. */
const maxOverlapMs = 30 * 24 * 3_600_000;

const futureTime = z
  .number()
  .int()
  .max(8.64e15)
  .refine((time) => time > Date.now(), 'Choose a time in the future.');

const settings = z.strictObject({
  name: displayNameSchema.describe('The name in lists and in the usage'),
  class: z.enum(priorityClasses).optional().describe('The priority of its requests in the queue; absent: `normal`'),
  expiresAt: futureTime.optional().describe('The time from which the key is refused'),
  models: z.array(z.string().trim().min(1).max(200)).min(1).max(100).optional().describe('The models that it may use'),
  tiers: z.array(z.enum(tiers)).min(1).max(tiers.length).optional().describe('The tiers that may serve its requests'),
  tools: keyToolsSchema.optional().describe('The tools that it may call, `<server>/*` for all of a server'),
  limits: limitsSchema.default({}).describe('The limits of its requests, tokens and cost'),
  weight: weightSchema.optional(),
});

export const newKey = settings.extend({
  kind: z.enum(keyKinds),
  userId: z.string().optional(),
  teamId: z.string().optional(),
});

/** The kind of a new key or webhook, which may follow from its owner. */
export const ownerKind = z
  .enum(keyKinds)
  .optional()
  .describe('Whose it is; absent: `team` with a team, `user` with a person, otherwise `router`');

/**
 * Returns the kind of what belongs to this owner.
 * @throws ApiFailure 400 for two owners and no kind
 */
export function findOwnerKind(owner: {
  kind?: KeyKind | undefined;
  userId?: string | undefined;
  teamId?: string | undefined;
}): KeyKind {
  const { kind, userId, teamId } = owner;
  if (kind !== undefined) return kind;
  if (userId !== undefined && teamId !== undefined)
    throw new ApiFailure(400, 'invalid_request', 'Choose a team or a person, not both.', { field: 'teamId' });
  return teamId !== undefined ? 'team' : userId !== undefined ? 'user' : 'router';
}

/** The settings to change; null removes a restriction. */
export const keyChange = z.strictObject({
  name: settings.shape.name.optional(),
  class: z.enum(priorityClasses).optional().describe('The priority of its requests in the queue'),
  expiresAt: futureTime.nullable().optional().describe('The time from which the key is refused'),
  models: settings.shape.models.nullable(),
  tiers: settings.shape.tiers.nullable(),
  tools: settings.shape.tools.nullable(),
  limits: limitsSchema.optional().describe('The limits of its requests, tokens and cost'),
  weight: weightSchema.optional(),
  records: z
    .boolean()
    .optional()
    .describe(
      'Whether requests with the key are recorded. For a personal key, only its person may switch recording on. Administrators may switch it off.',
    ),
});

/** The body of a request that changes the key with a given name, or creates a key with this name. */
export const namedKey = keyChange
  .omit({ name: true, records: true })
  .extend(newKey.pick({ kind: true, userId: true, teamId: true }).shape);

export const keyName = keyChange.pick({ name: true }).required();

export const rotation = z.strictObject({
  overlapMs: z
    .number()
    .int()
    .min(0)
    .max(maxOverlapMs)
    .default(24 * 3_600_000)
    .describe('How long the replaced one works too.'),
});
