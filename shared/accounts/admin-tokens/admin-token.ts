import { z } from 'zod';
import { keyAlphabet } from '../keys/key-format.ts';
import { storedJson } from '../redis/stored-value.ts';

/**
 * What a program may do with an admin token: `read` everything that its person may see, `keys`: make and change keys, `admin`: everything
 * that its person may do.
 */
export const adminScopes = ['read', 'keys', 'admin'] as const;
export type AdminScope = (typeof adminScopes)[number];

/** What is stored of an admin token. Times in ms since 1970. */
export const adminTokenSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** A scope of another release permits nothing here. */
  scopes: storedJson(z.array(z.string()).transform((given) => adminScopes.filter((scope) => given.includes(scope)))),
  /** SHA-256 of the secret. */
  hash: z.string(),
  createdAt: z.coerce.number(),
  expiresAt: z.coerce.number(),
  /** The person who made it, whose rights it has; absent when the command line made it, which has those of an administrator. */
  ownerId: z.string().optional(),
  /** The command line that made it, as `ada@workstation`. */
  madeAt: z.string().optional(),
  /** The `tokenEpoch` of the person when it was made: it is valid in that one alone. Absent: 0. */
  epoch: z.coerce.number().optional(),
  /** The token with which it was made: it ends with that one. */
  madeWith: z.string().optional(),
  /** For one command of whoever has the account store: what is made with it does not end with it. */
  isForCommand: z.stringbool().optional().catch(undefined),
});

export type AdminTokenRecord = z.output<typeof adminTokenSchema>;

const form = new RegExp(`^rtradmin_([${keyAlphabet}]{12})_([\\w-]{43})$`);

/** The id and the secret of a raw token; undefined for a text that is none. */
export function parseAdminToken(raw: string): { id: string; secret: string } | undefined {
  const [, id, secret] = form.exec(raw) ?? [];
  return id === undefined || secret === undefined ? undefined : { id, secret };
}

/** The token itself: `rtradmin_<id>_<secret>`, with a secret of 256 random bits. */
export function rawAdminToken(id: string, secret: string): string {
  return `rtradmin_${id}_${secret}`;
}
