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

const timeSchema = z.string().transform((text, context) => {
  const time = parseDateTime(text);
  if (time !== undefined) return time;
  context.addIssue('must be a date such as 2026-11-24, or a time such as 2026-11-24T16:05Z');
  return z.NEVER;
});

/** Creates the schema of a map from names to items. An item without settings may be null. */
function createMapSchema<Item extends z.ZodType>(name: z.ZodType<string>, item: Item) {
  return z
    .record(
      z.string(),
      z.preprocess((value) => value ?? {}, item),
    )
    .superRefine((items, context) => {
      for (const key of Object.keys(items)) {
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

const keySchema = z.strictObject({
  class: z.enum(priorityClasses).optional(),
  models: z.array(z.string().trim().min(1).max(200)).min(1).max(100).nullable().optional(),
  tiers: z.array(z.enum(tiers)).min(1).nullable().optional(),
  tools: keyToolsSchema.nullable().optional(),
  limits: limitsSchema.optional(),
  weight: weightSchema.optional(),
  expiresAt: timeSchema.nullable().optional(),
});
const keysSchema = createMapSchema(keyNameSchema, keySchema).optional();

const teamSchema = z.strictObject({
  ...partyFields,
  members: z.record(z.string(), z.enum(teamRoles)).optional(),
  keys: keysSchema,
});

const personSchema = z.strictObject({
  name: displayNameSchema.optional(),
  role: z.enum(userRoles).optional(),
  blocked: z.boolean().optional(),
  ...partyFields,
  keys: keysSchema,
});

const modelNameSchema = z.string().regex(modelNamePattern, 'is not the name of a model');

const newMembersSchema = consoleSettingsSchema.shape.newMembers.partial();

/** Schema of a file for `rtr apply`. Absent fields are left unchanged. */
export const accessSchema = z.strictObject({
  settings: consoleSettingsSchema
    .omit({ newMembers: true })
    .partial()
    .extend({ newMembers: newMembersSchema.optional() })
    .optional(),
  people: createMapSchema(emailSchema, personSchema).optional(),
  teams: createMapSchema(displayNameSchema, teamSchema).optional(),
  keys: keysSchema,
  prices: createMapSchema(modelNameSchema, modelPriceSchema.partial({ asOf: true })).optional(),
});

export type Access = z.output<typeof accessSchema>;
export type WantedKey = z.output<typeof keySchema>;
