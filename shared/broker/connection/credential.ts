import { createUser, decode, encodeUser, fmtCreds, type KeyPair } from '@nats-io/jwt';
import { z } from 'zod';
import { ConfigError } from '#shared/core/load-config.ts';
import { tiers } from '#shared/core/tier.ts';

export const roles = ['ingress', 'runner', ...tiers] as const;
export type Role = (typeof roles)[number];

/** The pattern of a credential's name, which is one token of a subject. */
export const credentialNamePattern = /^[\w-]{1,64}$/;

export interface Credential {
  role: Role;
  /** The name of the credential, which is one token of the subjects that its processes may use. */
  name: string;
  /** The first token of the cluster's subjects. */
  prefix: string;
  /**
   * The token that NATS calls a user JWT, signed by the cluster's authority. It is not secret. In the file of a shared credential, the
   * credential itself has signed the token, for a user whose secret key nobody has.
   */
  jwt: string;
  /** The secret key of the user; in the file of a shared credential, the signing key. */
  seed: Uint8Array;
  /** The public key of the cluster's account, which NATS calls the issuer account of a user. */
  account: string;
  /** Whether `seed` is a signing key, with which each process must sign a user of its own, see `signOwnUser`. */
  isSigningKey: boolean;
  /** The public key of the user that this process has signed; undefined if the authority has signed the user. */
  userKey?: string;
  /** CA certificates in PEM that may sign the broker's certificate, besides the public ones. */
  ca: string | undefined;
  /** When the credential expires, in milliseconds since 1970. */
  expiresAt: number | undefined;
}

/** Writes and reads the role and the prefix in a user JWT. They are stored as tags, which NATS does not interpret. */
export const tags = {
  write: ({ role, prefix }: Pick<Credential, 'role' | 'prefix'>): string[] => [`role:${role}`, `prefix:${prefix}`],
  read: (list: readonly string[], name: 'role' | 'prefix'): string | undefined =>
    list.find((tag) => tag.startsWith(`${name}:`))?.slice(name.length + 1),
};

const claimsSchema = z.object({
  name: z.string().regex(credentialNamePattern),
  exp: z.number().optional(),
  nats: z.object({ type: z.literal('user'), tags: z.array(z.string()), issuer_account: z.string() }),
});

const tokenBlock = /-+BEGIN NATS USER JWT-+\s+(\S+)\s+-+END NATS USER JWT-+/;
const seedBlock = /-+BEGIN (USER NKEY|SIGNING KEY) SEED-+\s+(\S+)\s+-+END \1 SEED-+/;

/** Matches each certificate in a text in PEM. */
export const certificateBlocks = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * Parses the text of a credential: the usual blocks of a NATS credential file, then the CA certificates, if a private authority signs the
 * broker's certificate.
 * @throws ConfigError for any other text, and for a credential that `rtr credentials` has not made; the error never repeats the text
 */
export function parseCredential(text: string): Credential {
  const jwt = tokenBlock.exec(text)?.[1];
  const [, seedKind, seed] = seedBlock.exec(text) ?? [];
  if (jwt === undefined || seed === undefined)
    throw new ConfigError('this is no credential: it must hold a NATS user token and a seed');
  const claims = claimsSchema.safeParse(decodeToken(jwt)).data;
  const role = roles.find((name) => name === tags.read(claims?.nats.tags ?? [], 'role'));
  const prefix = tags.read(claims?.nats.tags ?? [], 'prefix');
  if (!claims || role === undefined || prefix === undefined)
    throw new ConfigError('this credential names no role: make it with `rtr credentials`');
  return {
    role,
    name: claims.name,
    prefix,
    jwt,
    seed: new TextEncoder().encode(seed),
    account: claims.nats.issuer_account,
    isSigningKey: seedKind === 'SIGNING KEY',
    ca: text.match(certificateBlocks)?.join('\n'),
    expiresAt: claims.exp === undefined ? undefined : claims.exp * 1000,
  };
}

/**
 * Formats the text that `parseCredential` parses. The seed of a shared credential has the heading `SIGNING KEY SEED` instead of `USER NKEY
 * SEED`, which NATS uses for users.
 */
export function formatCredential(jwt: string, key: KeyPair, ca: string | undefined): string {
  const userText = new TextDecoder().decode(fmtCreds(jwt, key));
  const blocks = key.getPublicKey().startsWith('U')
    ? userText
    : userText.replaceAll('USER NKEY SEED', 'SIGNING KEY SEED');
  return ca === undefined ? blocks : `${blocks}\n${ca.trim()}\n`;
}

/**
 * Returns the credential with which this process connects. In place of a shared credential, this is a new user that the shared credential
 * signs; any other credential is returned unchanged. NATS gives the new user the permissions of the signing key's scope, and refuses a user
 * that states permissions of its own.
 */
export async function signOwnUser(credential: Credential): Promise<Credential> {
  const { isSigningKey, name, account, seed: signer } = credential;
  if (!isSigningKey) return credential;
  const user = createUser();
  const jwt = await encodeUser(name, user, account, {}, { signer, scopedUser: true });
  return { ...credential, jwt, seed: user.getSeed(), isSigningKey: false, userKey: user.getPublicKey() };
}

const keysSchema = z.object({ iss: z.string(), sub: z.string() });

/**
 * Reads the public keys that the token of a credential names: those of its user and of its signer. Does not check the signature, which takes
 * ten milliseconds.
 * @returns an empty array for any other text
 */
export function readClaimedKeys(text: string): string[] {
  const [, claims = ''] = tokenBlock.exec(text)?.[1]?.split('.') ?? [];
  try {
    const { iss, sub } = keysSchema.parse(JSON.parse(Buffer.from(claims, 'base64url').toString()));
    return [iss, sub];
  } catch {
    return [];
  }
}

function decodeToken(jwt: string): unknown {
  try {
    return decode(jwt);
  } catch (cause) {
    throw new ConfigError('the token in this credential is damaged', { cause });
  }
}
