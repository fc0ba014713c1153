import { z } from 'zod';
import { priorityClasses, type PriorityClass } from '#shared/core/priority-class.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { keyKinds, keySpelling, type KeyKind } from './key-format.ts';
import { storedLimitsSchema, storedWeightSchema, type Limits, type PartyLimits } from '../limits/limits.ts';
import { capBy, storedCeilingSchema, type Ceiling } from '../people/ceiling.ts';
import { isShutOut, usableName } from '../people/user.ts';
import { recordingSwitchSchema, type RecordingSwitch } from '../recordings/recording-switch.ts';
import { revisionSchema } from '../redis/revision.ts';
import { storedJson, storedList } from '../redis/stored-value.ts';

/** What is stored of a key. The raw key is not among it and cannot be computed from it. Times in ms since 1970. */
export const keyRecordSchema = z.object({
  id: z.string(),
  kind: z.enum(keyKinds),
  name: z.string(),
  /** A class of another release counts as `normal`: every key may have that. */
  class: z.enum(priorityClasses).catch('normal'),
  /** Argon2id of the secret, as a PHC string. */
  hash: z.string(),
  /** The first four characters of the secret, for a person to recognise the key by. */
  firstFour: z.string(),
  /** The last four characters of the secret. */
  lastFour: z.string(),
  createdAt: z.coerce.number(),
  /** The person of a personal key, the team of a team's. */
  ownerId: z.string().optional(),
  /** The person who made it; absent when it was made at the command line. */
  createdBy: z.string().optional(),
  /**
   * Of a key that was issued by somebody who may not read what is its owner's, an administrator: who that is, and the id that what it stores
   * belongs to in place of its owner. That is its own, or that of the key that its owner has rotated.
   */
  issuedBy: z.string().optional(),
  storesAs: z.string().optional(),
  /** From then on it is refused. */
  expiresAt: z.coerce.number().optional(),
  /** Names of models that it may ask for; absent: all. */
  models: storedJson(z.array(z.string())).optional(),
  /** Tiers that may serve it; absent: all. None, where all of them are of another release. */
  tiers: storedList(tiers).optional(),
  /** Tools that it may list and call: names, and `<server>/*` for all of an MCP server; absent: all. */
  tools: storedJson(z.array(z.string())).optional(),
  limits: storedLimitsSchema.optional(),
  weight: storedWeightSchema,
  /**
   * The settings that an administrator has set, which nobody else may change: names of fields, and `limits.<name>` for one of the limits.
   */
  adminSet: storedJson(z.array(z.string())).optional(),
  /** That its requests are recorded; absent: they are not. What cannot be read switches nothing on. */
  records: storedJson(recordingSwitchSchema).optional().catch(undefined),
  /** The key that was made in its place. */
  replacedBy: z.string().optional(),
  /** The first of the keys that were made in place of each other: what all of them use counts as its use. Absent for a key in nobody's place. */
  countedAs: z.string().optional(),
  revokedAt: z.coerce.number().optional(),
  revision: revisionSchema,
});

export type KeyRecord = z.infer<typeof keyRecordSchema>;

/** What of a person's or a team's record matters to the keys that belong to them. */
export const keyOwnerSchema = z
  .object({
    name: z.string(),
    limits: storedLimitsSchema.default({}),
    weight: storedWeightSchema,
    ceiling: storedCeilingSchema.optional(),
    blockedAt: z.string().optional(),
    refusedAt: z.string().optional(),
    /** Of a person; empty for somebody from a provider. */
    passwordHash: z.string().optional(),
    /** Of a team. */
    records: storedJson(recordingSwitchSchema.nullable()).optional().catch(undefined),
    /** Of a person. */
    role: z.string().optional(),
  })
  .transform(({ name, limits, weight, ceiling, records, role, passwordHash, ...times }): KeyOwner => ({
    name,
    limits,
    weight,
    ceiling,
    blocked: isShutOut({ ...times, passwordHash }),
    ...(records && { records }),
    ...(role === 'admin' && { isAdmin: true }),
    ...(passwordHash === '' && { hasNoPassword: true }),
  }));

/** The person or team that a key belongs to. */
export interface KeyOwner {
  name: string;
  limits: Limits;
  /** See `weightSchema`; undefined: 1. */
  weight?: number | undefined;
  ceiling?: Ceiling | undefined;
  /** The keys of somebody who is blocked, or whom their provider does not let in any more, are refused. */
  blocked: boolean;
  /** Of a team: that the requests of all its keys are recorded. */
  records?: RecordingSwitch;
  isAdmin?: true;
  /** Of a person: they sign in at a provider, if anywhere. */
  hasNoPassword?: true;
}

/** A key's record, with its owner when it has one and that one still exists. */
export type FoundKey = KeyRecord & { owner?: KeyOwner };

/** Who a verified key stands for, as the rest of the router sees it. */
export interface KeyIdentity {
  readonly id: string;
  readonly kind: KeyKind;
  readonly name: string;
  readonly class: PriorityClass;
  /** The person of a personal key, the team of a team's; undefined for a router key. */
  readonly ownerId: string | undefined;
  /** See KeyRecord: to whom what the key stores belongs, in place of its owner. Absent where that is the owner. */
  readonly storesAs?: string | undefined;
  /** Names of models that the key may ask for; undefined: all. */
  readonly models: readonly string[] | undefined;
  /** Lists of the person's or the team's, each of which must permit a model, too. */
  readonly ownerModels?: readonly (readonly string[])[] | undefined;
  /** Tiers that may serve the key; undefined: all. */
  readonly tiers: readonly Tier[] | undefined;
  /** Tools that the key may list and call, see `toolPermitsOf`; undefined: all. */
  readonly tools: readonly string[] | undefined;
  /** The limits that a request with this key must be within: the key's own and its owner's, where they have any. */
  readonly limits: readonly PartyLimits[];
  /** See `weightSchema`; undefined: 1. */
  readonly weight?: number | undefined;
  /** Of the person or team. */
  readonly ownerWeight?: number | undefined;
  /** Whether the requests are recorded, where recordings are on. */
  readonly isRecorded?: true;
}

/** To whom what a key stores belongs: files, batches, responses. That is its owner, or the key itself. */
export function storeOwnerOf({
  id,
  ownerId = id,
  storesAs = ownerId,
}: Pick<KeyIdentity, 'id' | 'ownerId' | 'storesAs'>): string {
  return storesAs;
}

/** Whether a key may be used at a time: not revoked, not expired, and its owner, if it has one, there and not blocked. */
export function isUsable({ revokedAt, expiresAt, ownerId, owner }: FoundKey, now: number): boolean {
  if (revokedAt !== undefined || (expiresAt !== undefined && expiresAt <= now)) return false;
  return ownerId === undefined || owner?.blocked === false;
}

/** Whose use the use of a key is counted as, against the limits of the key. */
export function partyOfKey({ id, countedAs = id }: Pick<KeyRecord, 'id' | 'countedAs'>): `key:${string}` {
  return `key:${countedAs}`;
}

/**
 * Of keys in the order of their creation, those that can be used at a time, and of several whose use is counted together the newest one.
 * By their parties.
 */
export function liveKeysByParty(keys: readonly FoundKey[], now: number): ReadonlyMap<`key:${string}`, FoundKey> {
  return new Map(keys.filter((key) => isUsable(key, now)).map((key) => [partyOfKey(key), key]));
}

/**
 * The class that a key may have of itself. An owner may choose `high` only as long as the ceiling says so, unless an administrator has given
 * it, or is the owner.
 */
export function permittedClass({ class: priority, kind, owner, adminSet = [] }: FoundKey): PriorityClass {
  if (priority !== 'high' || kind === 'router' || owner === undefined) return priority;
  const { ceiling, isAdmin = false } = owner;
  return isAdmin || ceiling?.maxClass === 'high' || adminSet.includes('class') ? priority : 'normal';
}

/** Who a key stands for, within the ceiling of its owner. @param priority the class that it has of itself */
export function identityOfKey(found: FoundKey, priority: PriorityClass = permittedClass(found)): KeyIdentity {
  const { id, kind, name, class: _, ...key } = found;
  const { ownerId, owner, storesAs, models, tiers, tools, weight } = key;
  const limits: PartyLimits[] = [];
  if (hasLimits(key.limits)) limits.push({ party: partyOfKey({ id, ...key }), limits: key.limits });
  if (ownerId !== undefined && kind !== 'router' && hasLimits(owner?.limits)) {
    limits.push({ party: `${kind}:${ownerId}`, limits: owner.limits });
  }
  const weights = { weight, ownerWeight: owner?.weight };
  const capped = capBy([owner?.ceiling], { class: priority, tiers });
  const issued = storesAs === undefined ? {} : { storesAs };
  const recorded = recordingOf(found) && ({ isRecorded: true } as const);
  return Object.freeze({
    id,
    kind,
    name,
    ownerId,
    ...issued,
    models,
    tools,
    limits,
    ...weights,
    ...capped,
    ...recorded,
  });
}

/** By what the requests of a key are recorded: a switch of its own, or its team's; undefined where they are not. */
export function recordingOf({
  kind,
  records,
  owner,
}: Pick<FoundKey, 'kind' | 'records' | 'owner'>): (RecordingSwitch & { of: 'key' | 'team' }) | undefined {
  if (records) return { ...records, of: 'key' };
  return kind === 'team' && owner?.records ? { ...owner.records, of: 'team' } : undefined;
}

/** Whether there is anything in them. */
export function hasLimits(limits: Limits | undefined): limits is Limits {
  return limits !== undefined && Object.keys(limits).length > 0;
}

/** A name for a key: 1 to 100 characters, none of which could move a terminal's cursor or hide text. */
export const keyNameSchema = z
  .string()
  .trim()
  .min(1, 'a key needs a name')
  .max(100, 'a name has 100 characters at most')
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'a name has no control characters')
  .regex(usableName, 'this cannot be a name');

/** Tools that a key may be given: names, and `<server>/*`. */
export const keyToolsSchema = z.array(z.string().trim().min(1).max(200)).min(1).max(100);

/** The key as it may be shown: everything but the middle of the secret, `rtr_0123456789ab_4fgh…89ab`. */
export function maskedKey({ kind, id, firstFour, lastFour }: KeyRecord): string {
  const { word, separator } = keySpelling[kind];
  return `${word}${separator}${id}${separator}${firstFour}…${lastFour}`;
}
