import type { Authority, IssuedCredential } from './authority.ts';

/**
 * Revokes credentials of an authority. Servers refuse them as soon as they have loaded its new configuration.
 * @param isWanted returns whether to revoke a credential. Credentials that are revoked already stay as they are
 * @returns the credentials that this call revoked, oldest first
 */
export function revokeCredentials(
  authority: Authority,
  isWanted: (one: IssuedCredential) => boolean,
): IssuedCredential[] {
  const revoked = authority.issued.filter((one) => one.revokedAt === undefined && isWanted(one));
  const revokedAt = Date.now();
  for (const one of revoked) one.revokedAt = revokedAt;
  return revoked;
}
