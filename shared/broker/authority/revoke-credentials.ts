import type { Authority, IssuedCredential } from './authority.ts';

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
