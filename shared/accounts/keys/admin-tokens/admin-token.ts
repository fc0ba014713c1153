import { z } from 'zod';
import { checksumLength, computeKeyChecksum, idLength, keyCharacter } from '../key-format.ts';
import { createStoredSchema } from '#shared/store/redis/stored-value.ts';

/**
 * What a program may do with an admin token. `read`: read everything that the token's person may see. `keys`: make and change keys.
 * `admin`: everything that the person may do.
 */
export const adminScopes = ['read', 'keys', 'admin'] as const;
export type AdminScope = (typeof adminScopes)[number];

/** The stored record of an admin token. Times in ms since 1970. */
export const adminTokenSchema = z.object({
  id: z.string(),
  name: z.string(),
  /** Scopes that this release does not define are dropped, so they permit nothing. */
  scopes: createStoredSchema(
    z.array(z.string()).transform((names) => adminScopes.filter((scope) => names.includes(scope))),
  ),
  /** SHA-256 of the secret. */
  hash: z.string(),
  createdAt: z.coerce.number(),
  expiresAt: z.coerce.number(),
  /**
   * The person who made the token. The token has the rights of this person. Absent if the token was made on the command line. It then has
   * the rights of an administrator.
   */
  ownerId: z.string().optional(),
  /** User and host of the command line on which the token was made, such as `ada@workstation`. */
  madeAt: z.string().optional(),
  /** The `tokenEpoch` of the person when the token was made. The token is valid while the person has the same `tokenEpoch`. Absent: 0. */
  epoch: z.coerce.number().optional(),
  /** Id of the token with which this token was made. This token is refused once the other token is removed. */
  madeWith: z.string().optional(),
  /**
   * Whether the token was made for a single command of `rtr` with access to the account store. Tokens made with it stay valid without it.
   */
  isForCommand: z.stringbool().optional().catch(undefined),
});

export type AdminTokenRecord = z.output<typeof adminTokenSchema>;

/**
 * Regular expression, without anchors, that finds admin tokens in a text: `rtradmin_<id>_<secret><checksum>`. Tokens of a release before 1.0
 * have no checksum. Group 1 is the id, group 2 the secret, group 3 the checksum.
 */
export const adminTokenPattern = `rtradmin_(${keyCharacter}{${idLength}})_([\\w-]{43})(${keyCharacter}{${checksumLength}})?`;

const wholeTokenPattern = new RegExp(`^${adminTokenPattern}$`);

/** Returns the id and the secret of a token; undefined if the text is no token, or its checksum is wrong. */
export function parseAdminToken(raw: string): { id: string; secret: string } | undefined {
  const [, id, secret, checksum] = wholeTokenPattern.exec(raw) ?? [];
  if (id === undefined || secret === undefined) return undefined;
  return checksum === undefined || formatAdminToken(id, secret) === raw ? { id, secret } : undefined;
}

/** Returns the text of a token. The secret has 256 random bits. */
export function formatAdminToken(id: string, secret: string): string {
  const unchecked = `rtradmin_${id}_${secret}`;
  return unchecked + computeKeyChecksum(unchecked);
}
