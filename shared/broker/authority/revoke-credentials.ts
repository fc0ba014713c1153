import type { Authority, Issued } from './authority.ts';

/**
 * Revokes credentials of an authority. Servers refuse them once they have read its new configuration.
 * @param isWanted which ones; those that are revoked already stay as they are
 * @returns those that were revoked now, oldest first
 */
export function revokeCredentials(authority: Authority, isWanted: (one: Issued) => boolean): Issued[] {
  const revoked = authority.issued.filter((one) => one.revokedAt === undefined && isWanted(one));
  const revokedAt = Date.now();
  for (const one of revoked) one.revokedAt = revokedAt;
  return revoked;
}
