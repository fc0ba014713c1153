import { z } from 'zod';
import { priorityClasses, type PriorityClass } from '#shared/core/priority-class.ts';
import type { Tier } from '#shared/core/tier.ts';
import { keyKinds, keySpelling, type KeyKind } from './key-format.ts';
import type { PartyLimits } from './limits.ts';

/** What is stored of a key. The raw key is not among it and cannot be computed from it. Times in ms since 1970. */
export const keyRecordSchema = z.object({
  id: z.string(),
  kind: z.enum(keyKinds),
  name: z.string(),
  class: z.enum(priorityClasses),
  /** Argon2id of the secret, as a PHC string. */
  hash: z.string(),
  /** The first four characters of the secret, for a person to recognise the key by. */
  firstFour: z.string(),
  /** The last four characters of the secret. */
  lastFour: z.string(),
  createdAt: z.coerce.number(),
  revokedAt: z.coerce.number().optional(),
});

export type KeyRecord = z.infer<typeof keyRecordSchema>;

/** Who a verified key stands for, as the rest of the router sees it. */
export interface KeyIdentity {
  readonly id: string;
  readonly kind: KeyKind;
  readonly name: string;
  readonly class: PriorityClass;
  /** The person of a personal key, the team of a team's; undefined for a router key. */
  readonly ownerId: string | undefined;
  /** Names of models that the key may ask for; undefined: all. */
  readonly models: readonly string[] | undefined;
  /** Tiers that may serve the key; undefined: all. */
  readonly tiers: readonly Tier[] | undefined;
  /** The limits that a request with this key must be within: the key's own and its owner's, where they have any. */
  readonly limits: readonly PartyLimits[];
}

/** A name for a key: 1 to 100 characters, none of which could move a terminal's cursor or hide text. */
export const keyNameSchema = z
  .string()
  .trim()
  .min(1, 'a key needs a name')
  .max(100, 'a name has 100 characters at most')
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'a name has no control characters');

/** The key as it may be shown: everything but the middle of the secret, `rtr_0123456789ab_4fgh…89ab`. */
export function maskedKey({ kind, id, firstFour, lastFour }: KeyRecord): string {
  const { word, separator } = keySpelling[kind];
  return `${word}${separator}${id}${separator}${firstFour}…${lastFour}`;
}
