import { z } from 'zod';
import { priorityClasses, type PriorityClass } from '#shared/core/priority-class.ts';
import { tiers, type Tier } from '#shared/core/tier.ts';
import { keyKinds, type KeyKind } from './key-format.ts';
import { storedLimitsSchema, storedWeightSchema, type Limits, type PartyLimits } from '../limits/limits.ts';
import { applyCeilings, storedCeilingSchema, type Ceiling } from '../people/ceiling.ts';
import { isShutOut, usableNamePattern } from '../people/user.ts';
import { recordingSwitchSchema, type RecordingSwitch } from '../recordings/recording.ts';
import { createStoredListSchema, createStoredSchema, revisionSchema } from '#shared/store/redis/stored-value.ts';

/** The stored record of a key. The raw key is not part of it and cannot be computed from it. Times in ms since 1970. */
export const keyRecordSchema = z.object({
  id: z.string(),
  kind: z.enum(keyKinds),
  name: z.string(),
  /** The priority of the key's requests. A class that this release does not define counts as `normal`, which every key may have. */
  class: z.enum(priorityClasses).catch('normal'),
  /** Argon2id of the secret, as a PHC string. */
  hash: z.string(),
  /**
   * The text of the raw key before its secret. Absent in a key of a release before 1.0: then it is `rtr_<id>_`, `user.<id>.` or
   * `team.<id>.`.
   */
  start: z.string().optional(),
  /** The first four characters of the secret, by which a person can recognise the key. */
  firstFour: z.string(),
  lastFour: z.string(),
  createdAt: z.coerce.number(),
  /** Id of the person of a personal key, or of the team of a team key. */
  ownerId: z.string().optional(),
  /** Id of the person who made the key; absent if the command line made it. */
  createdBy: z.string().optional(),
  /**
   * Only in issued keys: id of the administrator who made the key. The administrator may not read what the key's owner has stored, so an
   * issued key stores nothing for its owner.
   */
  issuedBy: z.string().optional(),
  /**
   * Only in issued keys: the id that owns what the key stores, in place of the key's owner. It is the id of this key or, in a key with
   * which the owner has replaced an issued key, the `storesAs` of the issued key.
   */
  storesAs: z.string().optional(),
  /** When the key expires. From then on, it is refused. */
  expiresAt: z.coerce.number().optional(),
  /** Names of models that the key may request; absent: all. */
  models: createStoredSchema(z.array(z.string())).optional(),
  /**
   * Tiers that may serve the key; absent: all. If this release defines none of the stored tiers, the list is empty, and no tier may serve
   * the key.
   */
  tiers: createStoredListSchema(tiers).optional(),
  /** Tools that the key may list and call: names, and `<server>/*` for all tools of an MCP server; absent: all. */
  tools: createStoredSchema(z.array(z.string())).optional(),
  limits: storedLimitsSchema.optional(),
  weight: storedWeightSchema,
  /**
   * The settings that only an administrator may change, because an administrator has set them: names of fields, and `limits.<name>` for a
   * single limit.
   */
  adminSet: createStoredSchema(z.array(z.string())).optional(),
  /** Present if the key's requests are recorded. A value that cannot be read counts as absent. */
  records: createStoredSchema(recordingSwitchSchema).optional().catch(undefined),
  replacedBy: z.string().optional(),
  /**
   * Id of the first key in a chain of replacements. The use of all keys in the chain counts as the use of that key. Absent in a key that
   * replaced no other.
   */
  countedAs: z.string().optional(),
  revokedAt: z.coerce.number().optional(),
  revision: revisionSchema,
});

export type KeyRecord = z.infer<typeof keyRecordSchema>;

/** The fields of a person's or a team's record that matter to their keys. */
export const keyOwnerSchema = z
  .object({
    name: z.string(),
    limits: storedLimitsSchema.default({}),
    weight: storedWeightSchema,
    ceiling: storedCeilingSchema.optional(),
    blockedAt: z.string().optional(),
    refusedAt: z.string().optional(),
    /** Only in the record of a person; empty for a person who signs in at a provider. */
    passwordHash: z.string().optional(),
    /** Only in the record of a team. */
    records: createStoredSchema(recordingSwitchSchema.nullable()).optional().catch(undefined),
    /** Only in the record of a person. */
    role: z.string().optional(),
  })
  .transform(({ name, limits, weight, ceiling, records, role, passwordHash, ...times }): KeyOwner => ({
    name,
    limits,
    weight,
    ceiling,
    isBlocked: isShutOut({ ...times, passwordHash }),
    ...(records && { records }),
    ...(role === 'admin' && { isAdmin: true }),
    ...(passwordHash === '' && { hasNoPassword: true }),
  }));

export interface KeyOwner {
  name: string;
  limits: Limits;
  /** See `weightSchema`; undefined: 1. */
  weight?: number | undefined;
  ceiling?: Ceiling | undefined;
  /** Whether all keys of the owner are refused, because the owner is blocked, or is a person whom the provider refuses. */
  isBlocked: boolean;
  /** Present for a team if the requests of all its keys are recorded. */
  records?: RecordingSwitch;
  isAdmin?: true;
  /** Present for a person without a password. Such a person can sign in only at a provider. */
  hasNoPassword?: true;
}

/** The record of a key, with its owner. The owner is absent if the key has none, or the owner no longer exists. */
export type FoundKey = KeyRecord & { owner?: KeyOwner };

/** The identity of a verified key, which the router uses in place of the key's record. */
export interface KeyIdentity {
  readonly id: string;
  readonly kind: KeyKind;
  readonly name: string;
  readonly class: PriorityClass;
  /** Id of the person of a personal key, or of the team of a team key; undefined for a router key. */
  readonly ownerId: string | undefined;
  /** The id that owns what the key stores, in place of the key's owner; see KeyRecord. Absent if the owner owns it. */
  readonly storesAs?: string | undefined;
  /** Names of models that the key may request; undefined: all. */
  readonly models: readonly string[] | undefined;
  /** Lists of models of the person or the team. A model must also be in each of these lists. */
  readonly ownerModels?: readonly (readonly string[])[] | undefined;
  /** Tiers that may serve the key; undefined: all. */
  readonly tiers: readonly Tier[] | undefined;
  /** Tools that the key may list and call, see `readToolPermits`; undefined: all. */
  readonly tools: readonly string[] | undefined;
  /**
   * The limits of the key and the limits of its owner, which all apply to each request with this key. A party without limits is left out.
   */
  readonly limits: readonly PartyLimits[];
  /** See `weightSchema`; undefined: 1. */
  readonly weight?: number | undefined;
  /** The weight of the person or team; undefined: 1. */
  readonly ownerWeight?: number | undefined;
  /** Whether the key's requests are recorded, if the cluster makes recordings. */
  readonly isRecorded?: true;
}

/**
 * Returns the id that owns the files, batches and responses of a key: `storesAs` of an issued key, else its owner, or the key itself if it
 * has no owner.
 */
export function findStoreOwner({
  id,
  ownerId = id,
  storesAs = ownerId,
}: Pick<KeyIdentity, 'id' | 'ownerId' | 'storesAs'>): string {
  return storesAs;
}

/**
 * Returns whether a key can be used at the time `now`: it is neither revoked nor expired, and its owner, if it has one, exists and is not
 * blocked.
 */
export function isUsable({ revokedAt, expiresAt, ownerId, owner }: FoundKey, now: number): boolean {
  if (revokedAt !== undefined || (expiresAt !== undefined && expiresAt <= now)) return false;
  return ownerId === undefined || owner?.isBlocked === false;
}

/** Returns the party whose use a key's requests count as: the key itself, or the first key in its chain of replacements. */
export function toKeyParty({ id, countedAs = id }: Pick<KeyRecord, 'id' | 'countedAs'>): `key:${string}` {
  return `key:${countedAs}`;
}

/**
 * Returns the keys that can be used at the time `now`, by party. If several keys have the same party, returns the newest of them.
 * @param keys in the order of their creation
 */
export function findLiveKeysByParty(keys: readonly FoundKey[], now: number): ReadonlyMap<`key:${string}`, FoundKey> {
  return new Map(keys.filter((key) => isUsable(key, now)).map((key) => [toKeyParty(key), key]));
}

/**
 * Returns the class that a key may use. A key with an owner may use `high` only if the owner's ceiling permits `high`, an administrator has
 * set the class of the key, or the owner is an administrator. Otherwise its class becomes `normal`.
 */
export function findPermittedClass({ class: priority, kind, owner, adminSet = [] }: FoundKey): PriorityClass {
  if (priority !== 'high' || kind === 'router' || owner === undefined) return priority;
  const { ceiling, isAdmin = false } = owner;
  return isAdmin || ceiling?.maxClass === 'high' || adminSet.includes('class') ? priority : 'normal';
}

/**
 * Returns the identity of a key, within the ceiling of its owner.
 * @param priority the class of the key
 */
export function createKeyIdentity(found: FoundKey, priority: PriorityClass = findPermittedClass(found)): KeyIdentity {
  const { id, kind, name, class: _, ...key } = found;
  const { ownerId, owner, storesAs, models, tiers, tools, weight } = key;
  const limits: PartyLimits[] = [];
  if (hasLimits(key.limits)) limits.push({ party: toKeyParty({ id, ...key }), limits: key.limits });
  if (ownerId !== undefined && kind !== 'router' && hasLimits(owner?.limits)) {
    limits.push({ party: `${kind}:${ownerId}`, limits: owner.limits });
  }
  const weights = { weight, ownerWeight: owner?.weight };
  const cappedSettings = applyCeilings([owner?.ceiling], { class: priority, tiers });
  const issued = storesAs === undefined ? {} : { storesAs };
  const recorded = findRecordingSwitch(found) && ({ isRecorded: true } as const);
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
    ...cappedSettings,
    ...recorded,
  });
}

/** Returns the switch that records the requests of a key: the key's or its team's; undefined if the requests are not recorded. */
export function findRecordingSwitch({
  kind,
  records,
  owner,
}: Pick<FoundKey, 'kind' | 'records' | 'owner'>): (RecordingSwitch & { of: 'key' | 'team' }) | undefined {
  if (records) return { ...records, of: 'key' };
  return kind === 'team' && owner?.records ? { ...owner.records, of: 'team' } : undefined;
}

export function hasLimits(limits: Limits | undefined): limits is Limits {
  return limits !== undefined && Object.keys(limits).length > 0;
}

/** The name of a key: 1 to 100 characters. No character can move a terminal's cursor or hide text. */
export const keyNameSchema = z
  .string()
  .trim()
  .min(1, 'a key needs a name')
  .max(100, 'a name has 100 characters at most')
  .regex(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u, 'a name has no control characters')
  .regex(usableNamePattern, 'this cannot be a name');

export const keyToolsSchema = z.array(z.string().trim().min(1).max(200)).min(1).max(100);

/** Returns a key in a form that may be shown, without the middle of the secret: `rtr_0123456789ab_4fgh…89ab`. */
export function maskKey({ kind, id, start, firstFour, lastFour }: KeyRecord): string {
  const earlierStart = kind === 'router' ? `rtr_${id}_` : `${kind}.${id}.`;
  return `${start ?? earlierStart}${firstFour}…${lastFour}`;
}
