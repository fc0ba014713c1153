import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '#shared/core/load-config.ts';
import { replaceFile } from '#shared/core/replace-file.ts';
import { tiers } from '#shared/core/tier.ts';
import { readClaimedKeys, roles, type Role } from '../connection/credential.ts';
import { changeAuthority, hasAuthority, hasServerConfig, readAuthority, writeAuthority } from './authority-folder.ts';
import { createAuthority, type Authority } from './authority.ts';
import { issueCredential, isValid } from './credentials.ts';

/*
 * The credentials of a cluster's own components: one for each role, in the folder of the authority. Those of workers are shared, because
 * all workers of a tier use the same file.
 */

/** Returns the path of the file with the cluster's own credential for a role. */
export function ownCredentialFile(folder: string, role: Role): string {
  return join(folder, `${role}.creds`);
}

/** Creates an authority in a folder, and the cluster's own credential for each role. */
export async function createAuthorityFolder(folder: string, prefix: string, ca?: string): Promise<Authority> {
  const authority = await createAuthority(prefix, ca);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const role of roles) await issueOwnCredential(authority, folder, role);
  // The authority is written last, because a later call takes its presence as proof that all files were written.
  await writeAuthority(folder, authority);
  return authority;
}

/**
 * Returns the authority in a folder. Creates what is missing: the authority, the servers' configuration, or a credential of the cluster's
 * own, for example after an administrator has revoked it.
 * @throws ConfigError if the authority is damaged, or belongs to a cluster with another prefix
 */
export async function ensureAuthority(folder: string, prefix: string): Promise<Authority> {
  if (!hasAuthority(folder)) return createAuthorityFolder(folder, prefix);
  const authority = readAuthority(folder);
  if (authority.prefix !== prefix)
    throw new ConfigError(
      `${folder} has the credentials of the cluster ${authority.prefix}, but RTR_PREFIX is ${prefix}: set RTR_PREFIX=${authority.prefix}, or move the folder away, and all workers of other machines join again.`,
    );
  if (hasServerConfig(folder, authority) && findMissing(authority, folder).length === 0) return authority;
  return changeAuthority(folder, async (latest) => {
    for (const role of findMissing(latest, folder)) await issueOwnCredential(latest, folder, role);
    return latest;
  });
}

/** Finds the roles whose file is missing, or does not contain a valid credential of this authority. */
function findMissing(authority: Authority, folder: string): Role[] {
  const now = Date.now();
  return roles.filter((role) => {
    const file = ownCredentialFile(folder, role);
    const keys = existsSync(file) ? readClaimedKeys(readFileSync(file, 'utf8')) : [];
    // The key of a shared credential is the signer of the token, that of another credential the user.
    return !authority.issued.some(
      (issued) => issued.role === role && keys.includes(issued.key) && isValid(issued, now),
    );
  });
}

async function issueOwnCredential(authority: Authority, folder: string, role: Role): Promise<void> {
  const shared = tiers.some((tier) => tier === role);
  const { text, issued } = await issueCredential(authority, { role, name: findFreeName(authority, role), shared });
  authority.issued.push(issued);
  replaceFile(ownCredentialFile(folder, role), text);
}

/** Returns the role as a name, or the role with a number while another credential has that name. */
function findFreeName({ issued }: Authority, role: Role): string {
  const now = Date.now();
  const isFree = (name: string): boolean => !issued.some((other) => other.name === name && isValid(other, now));
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? role : `${role}-${count}`;
    if (isFree(name)) return name;
  }
}
