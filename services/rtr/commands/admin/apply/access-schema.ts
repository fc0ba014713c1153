import { z } from 'zod';
import { keyNameSchema, keyToolsSchema } from '#shared/accounts/keys/key-record.ts';
import { limitsSchema, weightSchema } from '#shared/accounts/limits/limits.ts';
import { ceilingSchema } from '#shared/accounts/people/ceiling.ts';
import { consoleSettingsSchema } from '#shared/accounts/people/console-settings.ts';
import { teamRoles } from '#shared/accounts/people/team-store.ts';
import { displayNameSchema, emailSchema, userRoles } from '#shared/accounts/people/user.ts';
import { modelPriceSchema, modelNamePattern } from '#shared/accounts/prices/model-price.ts';
import { priorityClasses } from '#shared/core/priority-class.ts';
import { tiers } from '#shared/core/tier.ts';
import { parseDateTime } from '../read-time.ts';

const time = z.string().transform((text, context) => {
  const found = parseDateTime(text);
  if (found !== undefined) return found;
  context.addIssue('must be a date as 2026-11-24, or a time as 2026-11-24T16:05Z');
  return z.NEVER;
});

/** Returns the schema of an object whose fields are items by name. An item without settings may be null. */
function byName<Item extends z.ZodType>(name: z.ZodType<string>, item: Item) {
  return z
    .record(
      z.string(),
      z.preprocess((value) => value ?? {}, item),
    )
    .superRefine((things, context) => {
      for (const key of Object.keys(things)) {
        const { data, error } = name.safeParse(key);
        if (error) context.addIssue({ code: 'custom', path: [key], message: error.issues[0]?.message ?? '' });
        else if (data !== key)
          context.addIssue({ code: 'custom', path: [key], message: `must be written as ${JSON.stringify(data)}` });
      }
    });
}

const partyFields = {
  limits: limitsSchema.optional(),
  weight: weightSchema.optional(),
  ceiling: ceilingSchema.optional(),
};

const key = z.strictObject({
  class: z.enum(priorityClasses).optional(),
  models: z.array(z.string().trim().min(1).max(200)).min(1).max(100).nullable().optional(),
  tiers: z.array(z.enum(tiers)).min(1).nullable().optional(),
  tools: keyToolsSchema.nullable().optional(),
  limits: limitsSchema.optional(),
  weight: weightSchema.optional(),
  expiresAt: time.nullable().optional(),
});
const keys = byName(keyNameSchema, key).optional();

const team = z.strictObject({
  ...partyFields,
  members: z.record(z.string(), z.enum(teamRoles)).optional(),
  keys,
});

const person = z.strictObject({
  name: displayNameSchema.optional(),
  role: z.enum(userRoles).optional(),
  blocked: z.boolean().optional(),
  ...partyFields,
  keys,
});

const modelName = z.string().regex(modelNamePattern, 'is not the name of a model');

const newMembers = consoleSettingsSchema.shape.newMembers.partial();

/** A file for `rtr apply`. Absent fields stay as they are. */
export const accessSchema = z.strictObject({
  settings: consoleSettingsSchema
    .omit({ newMembers: true })
    .partial()
    .extend({ newMembers: newMembers.optional() })
    .optional(),
  people: byName(emailSchema, person).optional(),
  teams: byName(displayNameSchema, team).optional(),
  keys,
  prices: byName(modelName, modelPriceSchema.partial({ asOf: true })).optional(),
});

export type Access = z.output<typeof accessSchema>;
export type WantedKey = z.output<typeof key>;
