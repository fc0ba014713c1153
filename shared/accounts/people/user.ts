import { z } from 'zod';
import { storedCeilingSchema } from './ceiling.ts';
import { storedLimitsSchema, storedWeightSchema } from '../limits/limits.ts';
import { revisionSchema } from '#shared/store/redis/stored-value.ts';

export const userRoles = ['admin', 'member'] as const;
export type UserRole = (typeof userRoles)[number];

/** The stored record of a person. Times in ms since 1970. */
export const userRecordSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** The address in the form in which addresses are compared, see `emailSchema`. */
  email: z.string(),
  /**
   * The last address of the person that an administrator, an invitation or a provider has set or confirmed. For the first administrator,
   * the address with which they have created their account. If it differs from `email`, the person has entered `email` themselves.
   */
  confirmedEmail: z.string(),
  /** The address of the person when they last signed in with a link, a password or an account at a provider. Absent if they never have. */
  usedEmail: z.string().optional(),
  /** A role that this release does not define counts as `member`, the lowest one. */
  role: z.enum(userRoles).catch('member'),
  /** Argon2id, as a PHC string. */
  passwordHash: z.string(),
  /**
   * Is raised by one to end all sign-in sessions of the person. A session is valid only while the epoch is the same as when the session was
   * opened.
   */
  epoch: z.coerce.number(),
  /**
   * Is raised by one to end all admin tokens of the person. If sessions end because the provider cannot be asked about the person, admin
   * tokens stay valid. Absent: 0.
   */
  tokenEpoch: z.coerce.number().optional(),
  createdAt: z.coerce.number(),
  blockedAt: z.coerce.number().optional(),
  /**
   * When the person's provider began to refuse them, in ms since 1970. The time stays after the person is unlinked, until they sign in at a
   * provider or set a password. It has no effect while they have a password, see `isRefused`. Absent if no provider refuses them.
   */
  refusedAt: z.coerce.number().optional(),
  limits: storedLimitsSchema.optional(),
  weight: storedWeightSchema,
  ceiling: storedCeilingSchema.optional(),
  /** False if the person wants no alerts by e-mail. `mails.lua` reads this field, too. */
  alertEmails: z.stringbool().optional().catch(undefined),
  /** Time of the last request with a sign-in session. The time may be up to a minute old. */
  lastSeenAt: z.coerce.number().optional(),
  revision: revisionSchema,
});

export type UserRecord = z.infer<typeof userRecordSchema>;

/** The fields of a record that decide whether a person has access. The record of a team has none of them. */
interface AccessFields {
  blockedAt?: unknown;
  refusedAt?: unknown;
  passwordHash?: string | undefined;
}

/**
 * Returns whether the keys of a person are refused, because the person is blocked or their provider refuses them. `webhooks/lua/emit.lua`
 * decides by the same rule for webhooks and mails.
 */
export function isShutOut(facts: AccessFields): boolean {
  return facts.blockedAt !== undefined || isRefused(facts);
}

/** Returns whether a provider refuses a person who has no password. With a password, the person could sign in without the provider. */
export function isRefused({ refusedAt, passwordHash = '' }: Omit<AccessFields, 'blockedAt'>): boolean {
  return refusedAt !== undefined && passwordHash === '';
}

/**
 * Matches every name except `.` and `..`, which a path of a URL cannot contain, and `__proto__`, which cannot be a field of a JavaScript
 * object.
 */
export const usableNamePattern = /^(?!(?:\.{1,2}|__proto__)$)/;

/** Returns whether somebody else has set or confirmed the address of a person. */
export function hasConfirmedEmail({ email, confirmedEmail }: Pick<UserRecord, 'email' | 'confirmedEmail'>): boolean {
  return confirmedEmail === email;
}

/**
 * Returns whether an account may be linked to somebody who has proven elsewhere that they have its address. The address must be confirmed,
 * and the person must have last signed in with it, or never have signed in. Without the first condition, somebody who enters a foreign
 * address in their account could get what is meant for the owner of that address. Without the second condition, an administrator who
 * changes a person's address could become that person.
 */
export function mayLinkByEmail(user: Pick<UserRecord, 'email' | 'confirmedEmail' | 'usedEmail'>): boolean {
  return hasConfirmedEmail(user) && (user.usedEmail === user.email || !hasUsedAccount(user));
}

/**
 * Returns whether the record shows that anybody has signed in as this person: with a link, a password, an account at a provider, or a token
 * of a provider.
 */
export function hasUsedAccount({ usedEmail }: Pick<UserRecord, 'usedEmail'>): boolean {
  return usedEmail !== undefined;
}

/** The name of a person, a team or an invitation: 1 to 100 visible characters. No character can hide or reverse text. */
export const displayNameSchema = z
  .string()
  .trim()
  .min(1, 'A name is needed.')
  .max(100, 'A name has 100 characters at most.')
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]*$/u, 'A name has no control characters.')
  .regex(/^(?!.*\p{M}{5})/u, 'A name has four marks in a row at most.')
  .regex(usableNamePattern, 'This cannot be a name.')
  .describe('The name');

/**
 * An e-mail address in the form in which addresses are stored and compared: in lower case. Letters outside ASCII are refused before the
 * conversion. The Kelvin sign, for example, has a plain k as its lower case, so that one address would become another address.
 */
export const emailSchema = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]*$/, 'This is no e-mail address.')
  .toLowerCase()
  .max(254, 'An e-mail address has 254 characters at most.')
  .pipe(z.email('This is no e-mail address.'))
  .describe('The e-mail address');

/** Returns whether a person exists, is not blocked, and has not signed out everywhere since a sign-in with this epoch. */
export function isSignedIn(person: UserRecord | undefined, signIn: Pick<UserRecord, 'epoch'>): person is UserRecord {
  return person !== undefined && person.blockedAt === undefined && person.epoch === signIn.epoch;
}
