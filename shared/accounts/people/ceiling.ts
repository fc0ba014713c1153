import { z } from 'zod';
import { priorityClasses, type PriorityClass } from '#shared/core/priority-class.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { storedJson } from '../redis/stored-value.ts';

/** Bytes that the models of one ceiling may take as JSON: access tokens carry them, and headers are bounded. */
const mostBytes = 2_000;

/**
 * What an administrator lets a person or a team use at most, whatever their keys, sessions and tokens say. What is absent is not
 * restricted.
 */
export const ceilingSchema = z.strictObject({
  /** Names of models and registry names, read as the list of a key is. */
  models: z
    .array(z.string().trim().min(1).max(200))
    .min(1)
    .max(100)
    .refine(
      (names) => Buffer.byteLength(JSON.stringify(names)) <= mostBytes,
      `The names of the models take ${mostBytes.toLocaleString('en')} bytes at most in all.`,
    )
    .optional(),
  tiers: z.array(z.enum(tiers)).min(1).max(tiers.length).optional(),
  /** The highest class of their requests. */
  maxClass: z.enum(priorityClasses).optional(),
});

export type Ceiling = z.infer<typeof ceilingSchema>;

/** Every name of a ceiling's fields. */
export const ceilingNames = Object.keys(ceilingSchema.shape) as readonly (keyof Ceiling)[];

/** A ceiling as records and tokens carry it. Tiers of another release are left out, and a class of another release counts as `normal`. */
export const readCeilingSchema = z.object({
  models: z.array(z.string()).optional(),
  tiers: z
    .array(z.string())
    .transform((given) => given.filter((name): name is Tier => tiers.some((tier) => tier === name)))
    .optional(),
  maxClass: z.enum(priorityClasses).catch('normal').optional(),
});

/** A ceiling as it is read from the store. */
export const storedCeilingSchema = storedJson(readCeilingSchema);

/** What several ceilings leave of what a key or a session would have itself. */
export interface Capped {
  class: PriorityClass;
  tiers: readonly Tier[] | undefined;
  /** The lists of models of the ceilings that have one. */
  ownerModels?: readonly (readonly string[])[];
}

/** Applies ceilings to a class and to tiers (undefined: all). */
export function capBy(
  ceilings: readonly (Ceiling | undefined)[],
  own: { class: PriorityClass; tiers: readonly Tier[] | undefined },
): Capped {
  const given = ceilings.filter((each) => each !== undefined);
  const tierLists = [own.tiers, ...given.map((each) => each.tiers)].filter((list) => list !== undefined);
  const [first, ...others] = tierLists;
  const ownerModels = given.flatMap(({ models }) => (models === undefined ? [] : [models]));
  return {
    class: lowestClass([own.class, ...given.flatMap(({ maxClass }) => maxClass ?? [])]),
    tiers: first?.filter((tier) => others.every((list) => list.includes(tier))),
    ...(ownerModels.length > 0 && { ownerModels }),
  };
}

function lowestClass(classes: readonly PriorityClass[]): PriorityClass {
  return priorityClasses.findLast((each) => classes.includes(each)) ?? 'normal';
}
