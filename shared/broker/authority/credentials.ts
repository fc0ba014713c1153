import { createAccount, createUser, encodeUser } from '@nats-io/jwt';
import { ConfigError } from '#shared/core/load-config.ts';
import { credentialNamePattern, formatCredential, tags, type Role } from '../connection/credential.ts';
import { openCredentialName } from '../contract/worker-address.ts';
import { parseKeyPair, type Authority, type IssuedCredential } from './authority.ts';
import { derivePermissions, toUserLimits } from './permissions.ts';

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
  if (!credentialNamePattern.test(name) || name === openCredentialName)
    throw new ConfigError(
      `the name of a credential has up to 64 letters, digits, _ and -, and is not "${openCredentialName}"`,
    );
  const now = Date.now();
  if (authority.issued.some((other) => other.name === name && isValid(other, now)))
    throw new ConfigError(`there is a credential named ${name}: revoke it first, or choose another name`);
  if (shared && validMs !== undefined)
    throw new ConfigError('a shared credential cannot expire: leave the time out, and revoke the credential later');
  const user = createUser();
  const signer = shared ? createAccount() : parseKeyPair(authority.signer.seed);
  const expiresAt = validMs === undefined ? undefined : now + validMs;
  const token = await encodeUser(
    name,
    user,
    parseKeyPair(authority.account.seed).getPublicKey(),
    {
      ...(!shared && toUserLimits(derivePermissions(role, name, authority.prefix))),
      tags: tags.write({ role, prefix: authority.prefix }),
    },
    { signer, scopedUser: shared, ...(expiresAt !== undefined && { exp: Math.floor(expiresAt / 1000) }) },
  );
  const key = shared ? signer : user;
  return {
    text: formatCredential(token, key, ca),
    issued: { name, role, key: key.getPublicKey(), issuedAt: now, expiresAt },
  };
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
