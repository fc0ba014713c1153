import type { Authority, Issued } from './authority.ts';

/**
 * Revokes credentials of an authority. Servers refuse them as soon as they have loaded its new configuration.
 * @param isWanted selects the credentials to revoke; already revoked ones stay as they are
 * @returns the credentials that this call revoked, oldest first
 */
export function revokeCredentials(authority: Authority, isWanted: (one: Issued) => boolean): Issued[] {
  const revoked = authority.issued.filter((one) => one.revokedAt === undefined && isWanted(one));
  const revokedAt = Date.now();
  for (const one of revoked) one.revokedAt = revokedAt;
  return revoked;
}
