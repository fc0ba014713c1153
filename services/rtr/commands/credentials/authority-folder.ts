import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConfigError } from '#shared/core/load-config.ts';
import { parseAuthority, serverConfig, type Authority } from '#shared/broker/authority/authority.ts';
import { takeLock } from '../../bootstrap/take-lock.mjs';
import { replaceFile } from '../../up/replace-file.ts';

/** Where a cluster's trust is kept when nothing else is said. */
export const usualFolder = 'credentials';

const authorityFile = (folder: string): string => join(folder, 'authority.json');
const serverFile = (folder: string): string => join(folder, 'nats-auth.conf');

/** Whether a cluster's trust is kept in this folder. */
export function hasAuthority(folder: string): boolean {
  return existsSync(authorityFile(folder));
}

/** @throws ConfigError when there is none in this folder, or it is damaged */
export function readAuthority(folder: string): Authority {
  if (!hasAuthority(folder))
    throw new ConfigError(`there is no trust in ${folder}: make one with \`rtr credentials init --out ${folder}\``);
  return parseAuthority(readFileSync(authorityFile(folder), 'utf8'));
}

/**
 * Changes a cluster's trust. One process at a time may: what two wrote from the same beginning would lack a credential that
 * one of them made, and nobody could revoke it.
 * @throws ConfigError when there is none in this folder, or another process changes it right now
 */
export async function changeAuthority(
  folder: string,
  change: (authority: Authority) => Authority | Promise<Authority>,
): Promise<void> {
  // Where there is none, nothing is to be made: not even a lock.
  readAuthority(folder);
  const lock = takeLock(join(folder, 'lock'));
  if ('holder' in lock)
    throw new ConfigError(`${folder} is being changed by another process (${lock.holder}): try again when it is done`);
  try {
    await writeAuthority(folder, await change(readAuthority(folder)));
  } finally {
    lock.release();
  }
}

/**
 * Writes a cluster's trust, for its owner only, and before it the piece of the servers' configuration that follows, which
 * holds no secret: a change that is broken off in between can be made once more.
 */
export async function writeAuthority(folder: string, authority: Authority): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  replaceFile(serverFile(folder), await serverConfig(authority), 0o644);
  replaceFile(authorityFile(folder), `${JSON.stringify(authority, undefined, 2)}\n`);
}
