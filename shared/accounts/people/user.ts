import { z } from 'zod';
import { storedCeilingSchema } from './ceiling.ts';
import { storedLimitsSchema, storedWeightSchema } from '../limits/limits.ts';
import { revisionSchema } from '../redis/revision.ts';

export const userRoles = ['admin', 'member'] as const;
export type UserRole = (typeof userRoles)[number];

/** What is stored of a person. Times in ms since 1970. */
export const userRecordSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** In the one form in which addresses are compared. */
  email: z.string(),
  /**
   * The address that somebody else has given the person or confirmed: an administrator, an invitation, or a provider that has verified it; or
   * with which the first administrator has made their account. Another one than `email`: the person has typed that in. Absent in records of
   * earlier releases.
   */
  confirmedEmail: z.string().optional(),
  /** The address with which the person has come in last: with a link, a password or an account at a provider. Absent: not since it is kept. */
  usedEmail: z.string().optional(),
  /** A role of another release counts as `member`, the least that there is. */
  role: z.enum(userRoles).catch('member'),
  /** Argon2id, as a PHC string. */
  passwordHash: z.string(),
  /** Counts up whenever all sessions of the person end: a session is valid in the epoch that it was opened in. */
  epoch: z.coerce.number(),
  /** The same of their admin tokens, which outlast sessions that end because a provider cannot be asked about the person. Absent: 0. */
  tokenEpoch: z.coerce.number().optional(),
  createdAt: z.coerce.number(),
  blockedAt: z.coerce.number().optional(),
  /**
   * Since when the person is not let in any more by the provider that they were linked to; also after they were unlinked, until they sign in at
   * a provider or set a password. Nothing while they have a password: see `isRefused`. Absent: no provider has refused them since.
   */
  refusedAt: z.coerce.number().optional(),
  limits: storedLimitsSchema.optional(),
  weight: storedWeightSchema,
  ceiling: storedCeilingSchema.optional(),
  /** False for who wants no alerts by e-mail. `mails.lua` reads it, too. */
  alertEmails: z.stringbool().optional().catch(undefined),
  /** Of the last request with a session, a minute late at most. */
  lastSeenAt: z.coerce.number().optional(),
  revision: revisionSchema,
});

export type UserRecord = z.infer<typeof userRecordSchema>;

/** What of a record tells whether its person, or a team, which has none of it, is let in. */
interface EntryFacts {
  blockedAt?: unknown;
  refusedAt?: unknown;
  passwordHash?: string | undefined;
}

/**
 * Whether the keys of a person are refused: they are blocked, or their provider does not let them in any more. The same is decided for
 * webhooks and mails in `webhooks/lua/emit.lua`.
 */
export function isShutOut(facts: EntryFacts): boolean {
  return facts.blockedAt !== undefined || isRefused(facts);
}

/** Whether a provider has refused a person who has no other way in: somebody with a password comes in without it. */
export function isRefused({ refusedAt, passwordHash = '' }: Omit<EntryFacts, 'blockedAt'>): boolean {
  return refusedAt !== undefined && passwordHash === '';
}

/**
 * What no name may be: `.` and `..` cannot stand in the path of a URL, which would be that of something else, nor `__proto__` among the
 * names of a JavaScript object.
 */
export const usableName = /^(?!(?:\.{1,2}|__proto__)$)/;

/**
 * Whether the address of a person is more than what they have typed in. A change of the address has always ended all sessions: so that of a
 * record from before it was kept who confirmed it is confirmed if no session was ever ended.
 */
export function hasConfirmedEmail({ email, confirmedEmail, epoch }: AddressFacts): boolean {
  return confirmedEmail === undefined ? epoch === 0 : confirmedEmail === email;
}

/**
 * Whether somebody who has proven elsewhere to have the address of an account is its person: the address is confirmed, and its person has
 * come in with it or never come in. Otherwise whoever types in an address would be given what is meant for its owner, and an administrator
 * who changes the address of a person could become that person.
 */
export function isKnownByEmail(user: AddressFacts): boolean {
  const { email, confirmedEmail, usedEmail, passwordHash, lastSeenAt } = user;
  if (!hasConfirmedEmail(user)) return false;
  if (usedEmail !== undefined) return usedEmail === email;
  return confirmedEmail === undefined || (passwordHash === '' && lastSeenAt === undefined);
}

/**
 * Whether somebody has come in as this person in any way that their record tells: with a link, a password, a session, an account at a provider,
 * or a token of one.
 */
export function hasComeIn({ usedEmail, lastSeenAt, passwordHash }: AddressFacts): boolean {
  return usedEmail !== undefined || lastSeenAt !== undefined || passwordHash !== '';
}

type AddressFacts = Pick<
  UserRecord,
  'email' | 'confirmedEmail' | 'usedEmail' | 'epoch' | 'passwordHash' | 'lastSeenAt'
>;

/** A name for a person, a team or an invitation to show: 1 to 100 characters that can be seen, none of which could hide or turn text. */
export const displayNameSchema = z
  .string()
  .trim()
  .min(1, 'A name is needed.')
  .max(100, 'A name has 100 characters at most.')
  .regex(/^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]*$/u, 'A name has no control characters.')
  .regex(/^(?!.*\p{M}{5})/u, 'A name has four marks in a row at most.')
  .regex(usableName, 'This cannot be a name.');

/**
 * An e-mail address in the form in which addresses are stored and compared: in lower case. Other letters than those of ASCII are refused
 * before that: the Kelvin sign has a plain k as its lower case, so that one address would become another one.
 */
export const emailSchema = z
  .string()
  .trim()
  .regex(/^[\x21-\x7e]*$/, 'This is no e-mail address.')
  .toLowerCase()
  .max(254, 'An e-mail address has 254 characters at most.')
  .pipe(z.email('This is no e-mail address.'));
