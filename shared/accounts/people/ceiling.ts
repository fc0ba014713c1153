import { z } from 'zod';
import { priorityClasses, type PriorityClass } from '#shared/core/priority-class.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';

/** Maximum bytes of the models of one ceiling as JSON. Access tokens contain the models, and headers are bounded in size. */
const maxBytes = 2_000;

/**
 * The most that an administrator lets a person or team use, even if their keys, sign-in sessions or tokens permit more. An absent field
 * does not restrict.
 */
export const ceilingSchema = z.strictObject({
  models: z
    .array(z.string().trim().min(1).max(200))
    .min(1)
    .max(100)
    .refine(
      (names) => Buffer.byteLength(JSON.stringify(names)) <= maxBytes,
      `The names of the models take ${maxBytes.toLocaleString('en')} bytes at most in all.`,
    )
    .optional()
    .describe('The only models that may be used, and names in the registry, as in the list of a key.'),
  tiers: z.array(z.enum(tiers)).min(1).max(tiers.length).optional().describe('The only tiers that may be used.'),
  maxClass: z.enum(priorityClasses).optional().describe('The highest class of requests.'),
});

export type Ceiling = z.infer<typeof ceilingSchema>;

export const ceilingNames = Object.keys(ceilingSchema.shape) as readonly (keyof Ceiling)[];

/**
 * A ceiling in a record or token. Tiers that this release does not define are dropped. A class that this release does not define becomes
 * `normal`.
 */
export const readCeilingSchema = z.object({
  models: z.array(z.string()).optional(),
  tiers: z
    .array(z.string())
    .transform((names) => names.filter((name): name is Tier => tiers.some((tier) => tier === name)))
    .optional(),
  maxClass: z.enum(priorityClasses).catch('normal').optional(),
});

export const storedCeilingSchema = createStoredSchema(readCeilingSchema);

/** The class, tiers and models that a key or a sign-in session may use under its ceilings. */
export interface CappedSettings {
  class: PriorityClass;
  tiers: readonly Tier[] | undefined;
  /** The list of models of each ceiling that has one. */
  ownerModels?: readonly (readonly string[])[];
}

/** Applies ceilings to a class and to tiers (undefined: all). */
export function applyCeilings(
  ceilings: readonly (Ceiling | undefined)[],
  settings: { class: PriorityClass; tiers: readonly Tier[] | undefined },
): CappedSettings {
  const definedCeilings = ceilings.filter((ceiling) => ceiling !== undefined);
  const tierLists = [settings.tiers, ...definedCeilings.map((ceiling) => ceiling.tiers)].filter(
    (list) => list !== undefined,
  );
  const [first, ...others] = tierLists;
  const ownerModels = definedCeilings.flatMap(({ models }) => (models === undefined ? [] : [models]));
  return {
    class: findLowestClass([settings.class, ...definedCeilings.flatMap(({ maxClass }) => maxClass ?? [])]),
    tiers: first?.filter((tier) => others.every((list) => list.includes(tier))),
    ...(ownerModels.length > 0 && { ownerModels }),
  };
}

function findLowestClass(classes: readonly PriorityClass[]): PriorityClass {
  return priorityClasses.findLast((priority) => classes.includes(priority)) ?? 'normal';
}
