import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '#shared/core/load-config.ts';
import { replaceFile } from '#shared/core/replace-file.ts';
import { tiers } from '#shared/core/tier.ts';
import { readClaimedKeys, roles, type Role } from '../connection/credential.ts';
import { changeAuthority, hasAuthority, hasServerConfig, readAuthority, writeAuthority } from './authority-folder.ts';
import { createAuthority, isShared, type Authority, type IssuedCredential } from './authority.ts';
import { issueCredential, isValid, revokeCredentials } from './credentials.ts';

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
 * own, for example after an administrator has revoked it. If another release has made them with other permissions, creates them anew.
 * @throws ConfigError if the authority is damaged, or belongs to a cluster with another prefix
 */
export async function ensureAuthority(folder: string, prefix: string): Promise<Authority> {
  if (!hasAuthority(folder)) return createAuthorityFolder(folder, prefix);
  const authority = readAuthority(folder);
  if (authority.prefix !== prefix)
    throw new ConfigError(
      `${folder} has the credentials of the cluster ${authority.prefix}, but RTR_PREFIX is ${prefix}: set RTR_PREFIX=${authority.prefix}, or move the folder away, and all workers of other machines join again.`,
    );
  if (hasServerConfig(folder, authority) && roles.every((role) => findOwn(authority, folder, role))) return authority;
  return changeAuthority(folder, async (latest) => {
    const isConfigCurrent = hasServerConfig(folder, latest);
    for (const role of roles) {
      const own = findOwn(latest, folder, role);
      // The permissions of a shared credential are in the servers' configuration, those of another one in its token.
      if (own && (isConfigCurrent || isShared(own))) continue;
      revokeCredentials(latest, (issued) => issued === own);
      await issueOwnCredential(latest, folder, role);
    }
    return latest;
  });
}

/** Finds the cluster's own credential for a role; undefined if its file is missing, or has no valid credential of this authority. */
function findOwn({ issued }: Authority, folder: string, role: Role): IssuedCredential | undefined {
  const file = ownCredentialFile(folder, role);
  const now = Date.now();
  const keys = existsSync(file) ? readClaimedKeys(readFileSync(file, 'utf8')) : [];
  // The key of a shared credential is the signer of the token, that of another credential the user.
  return issued.find(
    (credential) => credential.role === role && keys.includes(credential.key) && isValid(credential, now),
  );
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
