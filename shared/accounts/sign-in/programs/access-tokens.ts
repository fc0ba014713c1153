import { errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { limitsSchema, type Limits } from '../../limits/limits.ts';
import { readCeilingSchema, type Ceiling } from '../../people/ceiling.ts';
import type { SigningKeys } from './signing-keys.ts';

/** Milliseconds for which an access token is valid. */
export const accessTokenMs = 900_000;

/** Maximum difference between the clocks of nodes, in milliseconds. */
export const clockToleranceMs = 30_000;

/** Milliseconds after the creation of an access token for which some node may accept it. */
export const acceptedMs = accessTokenMs + clockToleranceMs;

/** The issuer and the audience of the access tokens of all clusters. The id of the signing key shows which cluster a token belongs to. */
export const ownIssuer = 'urn:model-router';

const algorithm = 'EdDSA';

/** The type of access tokens according to RFC 9068. */
const tokenType = 'at+jwt';

const partySchema = z.object({
  name: z.string(),
  limits: z.object(limitsSchema.shape).optional(),
  weight: z.number().optional(),
  ceiling: readCeilingSchema.optional(),
});

const claimsSchema = z.object({
  sub: z.string(),
  sid: z.string(),
  iat: z.number(),
  exp: z.number(),
  epoch: z.number(),
  user: partySchema,
  team: partySchema.extend({ id: z.string() }).optional(),
});

/** The claims of an access token: the program, its person, and the fields of the person and the team that requests need. */
export type AccessClaims = z.infer<typeof claimsSchema>;

/** The fields of a person or a team in a token. */
export interface ClaimedParty {
  name: string;
  limits?: Limits | undefined;
  weight?: number | undefined;
  ceiling?: Ceiling | undefined;
}

export type NewClaims = Omit<AccessClaims, 'iat' | 'exp'>;

/**
 * Signs an access token, a JWT (RFC 9068).
 * @throws RouterError `store_unavailable`
 */
export async function signAccessToken(keys: Pick<SigningKeys, 'ensureCurrent'>, claims: NewClaims): Promise<string> {
  const { id, privateKey } = await keys.ensureCurrent();
  const now = Math.floor(Date.now() / 1_000);
  return new SignJWT(claims)
    .setProtectedHeader({ alg: algorithm, typ: tokenType, kid: id })
    .setIssuer(ownIssuer)
    .setAudience(ownIssuer)
    .setIssuedAt(now)
    .setExpirationTime(now + accessTokenMs / 1_000)
    .sign(privateKey);
}

/**
 * Returns the claims of an access token of this cluster; undefined for a forged token, an expired token, and a token of another cluster.
 * @throws RouterError `store_unavailable` when the token's key is not known and the store does not answer
 */
export async function readAccessToken(
  keys: Pick<SigningKeys, 'find'>,
  token: string,
): Promise<AccessClaims | undefined> {
  try {
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = typeof kid === 'string' ? await keys.find(kid) : undefined;
        if (!key) throw new errors.JWKSNoMatchingKey();
        return key.publicKey;
      },
      {
        algorithms: [algorithm],
        typ: tokenType,
        issuer: ownIssuer,
        audience: ownIssuer,
        clockTolerance: clockToleranceMs / 1_000,
      },
    );
    return claimsSchema.safeParse(payload).data;
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}
