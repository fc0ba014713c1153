import { createAccount, createUser, encodeUser, fromPublic, type KeyPair } from '@nats-io/jwt';
import { ConfigError } from '#shared/core/load-config.ts';
import { credentialNamePattern, formatCredential, tags, type Role } from '../connection/credential.ts';
import { openCredentialName } from '../contract/worker-address.ts';
import { parseKeyPair, type Authority, type IssuedCredential } from './authority.ts';
import { derivePermissions, toUserLimits } from './permissions.ts';

/** Bytes of an Ed25519 signature. */
const signatureBytes = 64;

export interface CredentialRequest {
  role: Role;
  /** The credential's name, which becomes one token of its subjects. At most one valid credential of a cluster has this name. */
  name: string;
  /**
   * Whether several workers share the credential. Each of their processes signs its own NATS user with the credential, and receives no
   * messages for the other processes. Default: false.
   */
  shared?: boolean | undefined;
  /**
   * Milliseconds for which the credential is valid; absent for a credential that does not expire. A shared credential cannot expire,
   * because it signs users at any later time.
   */
  validMs?: number | undefined;
  /** CA certificates in PEM that go into the credential instead of the authority's. */
  ca?: string | undefined;
}

/** A request for the token of a user whose secret key only its holder has. */
export interface TokenRequest extends Pick<CredentialRequest, 'role' | 'name' | 'validMs'> {
  /** The public key of the user. One key may have tokens of several roles, all with the same name. */
  key: string;
}

/** A new token, which NATS calls a user JWT and which is not secret, and its entry for the list `issued` of the authority. */
export interface NewToken {
  jwt: string;
  issued: IssuedCredential;
}

/** A new credential: the text of its file, which is secret, and its entry for the list `issued` of the authority. */
export interface NewCredential {
  text: string;
  issued: IssuedCredential;
}

/**
 * Issues a credential, but does not add it to `authority.issued`. The servers accept the credential without a new configuration, unless it
 * is shared.
 * @throws ConfigError for an invalid name, for the name of another valid credential, and for a shared credential that expires
 */
export async function issueCredential(
  authority: Authority,
  { role, name, shared = false, validMs, ca = authority.ca }: CredentialRequest,
): Promise<NewCredential> {
  if (shared && validMs !== undefined)
    throw new ConfigError('a shared credential cannot expire: leave the time out, and revoke the credential later');
  const user = createUser();
  const signer = shared ? createAccount() : undefined;
  const { jwt, issued } = await issueToken(authority, { role, name, validMs, key: user.getPublicKey() }, signer);
  const key = signer ?? user;
  return { text: formatCredential(jwt, key, ca), issued: { ...issued, key: key.getPublicKey() } };
}

/**
 * Issues the token of a user, but does not add it to `authority.issued`. The servers accept the token without a new configuration, unless a
 * shared credential signs it.
 * @param sharedSigner the key of the shared credential that signs the user; absent: the authority signs it
 * @throws ConfigError for an invalid name, and for the name of a valid credential of another key
 */
export async function issueToken(
  authority: Authority,
  { role, name, key, validMs }: TokenRequest,
  sharedSigner?: KeyPair,
): Promise<NewToken> {
  if (!credentialNamePattern.test(name) || name === openCredentialName)
    throw new ConfigError(
      `the name of a credential has up to 64 letters, digits, _ and -, and is not "${openCredentialName}"`,
    );
  const now = Date.now();
  if (authority.issued.some((other) => other.name === name && other.key !== key && isValid(other, now)))
    throw new ConfigError(`there is a credential named ${name}: revoke it first, or choose another name`);
  const expiresAt = validMs === undefined ? undefined : now + validMs;
  const jwt = await encodeUser(
    name,
    key,
    parseKeyPair(authority.account.seed).getPublicKey(),
    {
      ...(!sharedSigner && toUserLimits(derivePermissions(role, name, authority.prefix))),
      tags: tags.write({ role, prefix: authority.prefix }),
    },
    {
      signer: sharedSigner ?? parseKeyPair(authority.signer.seed),
      scopedUser: sharedSigner !== undefined,
      ...(expiresAt !== undefined && { exp: Math.floor(expiresAt / 1000) }),
    },
  );
  return { jwt, issued: { name, role, key, issuedAt: now, expiresAt } };
}

/** Whether a text is the public key of a NATS user. This takes milliseconds. */
export function isUserKey(text: string): boolean {
  if (!/^U[A-Z2-7]{55}$/.test(text)) return false;
  try {
    // Only a verification checks the checksum of the key.
    fromPublic(text).verify(new Uint8Array(), new Uint8Array(signatureBytes));
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether the secret key of a NATS user has made the signature of a text. This takes milliseconds.
 * @param signature Ed25519 in base64url
 */
export function isSignature(key: string, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, 'base64url');
  return bytes.length === signatureBytes && fromPublic(key).verify(new TextEncoder().encode(text), bytes);
}

/**
 * Revokes credentials of an authority. Servers refuse them after they have loaded the new configuration.
 * @param shouldRevoke returns whether to revoke a credential; not called for credentials that are already revoked
 * @returns the credentials that this call revoked, oldest first
 */
export function revokeCredentials(
  authority: Authority,
  shouldRevoke: (credential: IssuedCredential) => boolean,
): IssuedCredential[] {
  const revoked = authority.issued.filter(
    (credential) => credential.revokedAt === undefined && shouldRevoke(credential),
  );
  const revokedAt = Date.now();
  for (const credential of revoked) credential.revokedAt = revokedAt;
  return revoked;
}

export function isValid({ expiresAt, revokedAt }: IssuedCredential, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || expiresAt > now);
}
