import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '#shared/core/load-config.ts';
import { parseAuthority, serverConfig, type Authority } from '#shared/broker/authority/authority.ts';
import { takeLock } from '../../bootstrap/take-lock.mjs';
import { replaceFile } from '../../up/replace-file.ts';

/** The default folder of a cluster's authority. */
export const defaultFolder = 'credentials';

const authorityFile = (folder: string): string => join(folder, 'authority.json');
const serverFile = (folder: string): string => join(folder, 'nats-auth.conf');

/** Whether this folder holds an authority. */
export function hasAuthority(folder: string): boolean {
  return existsSync(authorityFile(folder));
}

/** @throws ConfigError when this folder holds no authority, or a damaged one */
export function readAuthority(folder: string): Authority {
  if (!hasAuthority(folder))
    throw new ConfigError(
      `there is no authority in ${folder}: create one with \`rtr credentials init --out ${folder}\``,
    );
  return parseAuthority(readFileSync(authorityFile(folder), 'utf8'));
}

/**
 * Changes a cluster's authority. One process at a time may do so: of two that start from the same state, the second would
 * overwrite the first one's credential, which could then not be revoked.
 * @throws ConfigError when this folder holds no authority, or another process is changing it
 */
export async function changeAuthority(
  folder: string,
  change: (authority: Authority) => Authority | Promise<Authority>,
): Promise<void> {
  // First, so that a folder without an authority gets no lock file.
  readAuthority(folder);
  const lock = takeLock(join(folder, 'lock'));
  if ('holder' in lock)
    throw new ConfigError(
      `${folder} is being changed by another process (${lock.holder}): try again when that has finished`,
    );
  try {
    await writeAuthority(folder, await change(readAuthority(folder)));
  } finally {
    lock.release();
  }
}

/**
 * Writes a cluster's authority, readable by its owner only. The servers' configuration, which holds no secret, is written first:
 * a change that is interrupted in between can be made again.
 */
export async function writeAuthority(folder: string, authority: Authority): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  replaceFile(serverFile(folder), await serverConfig(authority), 0o644);
  replaceFile(authorityFile(folder), `${JSON.stringify(authority, undefined, 2)}\n`);
}
