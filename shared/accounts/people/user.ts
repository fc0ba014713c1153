import { z } from 'zod';
import { storedCeilingSchema } from './ceiling.ts';
import { storedLimitsSchema, storedWeightSchema } from '../limits/limits.ts';
import { revisionSchema } from '../redis/revision.ts';

export const userRoles = ['admin', 'member'] as const;
export type UserRole = (typeof userRoles)[number];

/** The stored record of a person. Times in ms since 1970. */
export const userRecordSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** In the one form in which addresses are compared, see `emailSchema`. */
  email: z.string(),
  /**
   * The address that somebody else has given the person or confirmed: an administrator, an invitation, or a provider that has verified it.
   * Also the address with which the first administrator has created their account. If it differs from `email`, the person has typed that
   * in. Absent in records of earlier releases.
   */
  confirmedEmail: z.string().optional(),
  /**
   * The address with which the person has signed in last: with a link, a password or an account at a provider. Absent: never since this is
   * stored.
   */
  usedEmail: z.string().optional(),
  /** A role that this release does not define counts as `member`, the lowest one. */
  role: z.enum(userRoles).catch('member'),
  /** Argon2id, as a PHC string. */
  passwordHash: z.string(),
  /** Counts up whenever all sign-in sessions of the person end: a session is valid only in the epoch in which it was opened. */
  epoch: z.coerce.number(),
  /** The same for their admin tokens, which outlast sessions that end because a provider cannot be asked about the person. Absent: 0. */
  tokenEpoch: z.coerce.number().optional(),
  createdAt: z.coerce.number(),
  blockedAt: z.coerce.number().optional(),
  /**
   * Since when the provider that the person was linked to refuses them, in ms since 1970. It stays after they are unlinked, until they sign
   * in at a provider or set a password. Without effect while they have a password: see `isRefused`. Absent: no provider has refused them
   * since.
   */
  refusedAt: z.coerce.number().optional(),
  limits: storedLimitsSchema.optional(),
  weight: storedWeightSchema,
  ceiling: storedCeilingSchema.optional(),
  /** False if the person wants no alerts by e-mail. `mails.lua` reads it, too. */
  alertEmails: z.stringbool().optional().catch(undefined),
  /** Time of the last request with a sign-in session, a minute late at most. */
  lastSeenAt: z.coerce.number().optional(),
  revision: revisionSchema,
});

export type UserRecord = z.infer<typeof userRecordSchema>;

/** The fields of a record that decide whether a person is let in. A team has none of them. */
interface AccessFields {
  blockedAt?: unknown;
  refusedAt?: unknown;
  passwordHash?: string | undefined;
}

/**
 * Returns whether the keys of a person are refused: the person is blocked, or their provider refuses them. `webhooks/lua/emit.lua` decides
 * the same for webhooks and mails.
 */
export function isShutOut(facts: AccessFields): boolean {
  return facts.blockedAt !== undefined || isRefused(facts);
}

/** Returns whether a provider has refused a person who has no other way in: a person with a password can sign in without the provider. */
export function isRefused({ refusedAt, passwordHash = '' }: Omit<AccessFields, 'blockedAt'>): boolean {
  return refusedAt !== undefined && passwordHash === '';
}

/**
 * Names that are not `.` or `..`, which cannot stand in the path of a URL, or `__proto__`, which cannot be a name in a JavaScript object.
 */
export const usableName = /^(?!(?:\.{1,2}|__proto__)$)/;

/**
 * Returns whether the address of a person is more than what they have typed in. A change of the address has always ended all sessions: so
 * the address in a record of an earlier release, without `confirmedEmail`, counts as confirmed if no session was ever ended.
 */
export function hasConfirmedEmail({ email, confirmedEmail, epoch }: AddressFacts): boolean {
  return confirmedEmail === undefined ? epoch === 0 : confirmedEmail === email;
}

/**
 * Returns whether anybody who has proven elsewhere to have the address of an account is its person: the address is confirmed, and its
 * person has signed in with it or never at all. Otherwise, whoever types in an address would get what is meant for its owner, and an
 * administrator who changes the address of a person could become that person.
 */
export function mayLinkByEmail(user: AddressFacts): boolean {
  const { email, confirmedEmail, usedEmail, passwordHash, lastSeenAt } = user;
  if (!hasConfirmedEmail(user)) return false;
  if (usedEmail !== undefined) return usedEmail === email;
  return confirmedEmail === undefined || (passwordHash === '' && lastSeenAt === undefined);
}

/**
 * Returns whether anybody has signed in as this person in any way that their record shows: with a link, a password, a session, an account
 * at a provider, or a token of one.
 */
export function hasUsedAccount({ usedEmail, lastSeenAt, passwordHash }: AddressFacts): boolean {
  return usedEmail !== undefined || lastSeenAt !== undefined || passwordHash !== '';
}

type AddressFacts = Pick<
  UserRecord,
  'email' | 'confirmedEmail' | 'usedEmail' | 'epoch' | 'passwordHash' | 'lastSeenAt'
>;

/** The name of a person, a team or an invitation: 1 to 100 visible characters, none of which could hide or turn text. */
export const displayNameSchema = z
  .string()
  .trim()
  .min(1, 'A name is needed.')
  .max(100, 'A name has 100 characters at most.')
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]*$/u, 'A name has no control characters.')
  .regex(/^(?!.*\p{M}{5})/u, 'A name has four marks in a row at most.')
  .regex(usableName, 'This cannot be a name.');

/**
 * An e-mail address in the form in which addresses are stored and compared: in lower case. Letters outside ASCII are refused before that:
 * the Kelvin sign has a plain k as its lower case, so that one address would become another one.
 */
export const emailSchema = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]*$/, 'This is no e-mail address.')
  .toLowerCase()
  .max(254, 'An e-mail address has 254 characters at most.')
  .pipe(z.email('This is no e-mail address.'));
