import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import { ConfigError } from '#shared/core/load-config.ts';
import { replaceFile } from '#shared/core/replace-file.ts';
import { takeLock } from '#shared/core/take-lock.mjs';
import { parseAuthority, serverConfig, type Authority } from './authority.ts';

export const defaultFolder = 'credentials';

/** Milliseconds to wait for the lock. A change takes up to a second, so a longer wait means many other changes, or a process that hangs. */
const lockWaitMs = 20_000;
const lockPollMs = 20;

/**
 * Milliseconds after which a lock of a holder on another machine or in another container counts as free, because the holder may have died.
 */
const unseenHolderMs = 60_000;

const authorityFile = (folder: string): string => join(folder, 'authority.json');
const serverFile = (folder: string): string => join(folder, 'nats-auth.conf');

export function hasAuthority(folder: string): boolean {
  return existsSync(authorityFile(folder));
}

/** @throws ConfigError if there is no authority in this folder, or if its file is damaged */
export function readAuthority(folder: string): Authority {
  if (!hasAuthority(folder))
    throw new ConfigError(
      `there is no authority in ${folder}: create one with \`rtr credentials init --out ${folder}\``,
    );
  return parseAuthority(readFileSync(authorityFile(folder), 'utf8'));
}

/**
 * Changes a cluster's authority, one process at a time. If two processes started from the same state, the second would overwrite the first
 * one's credential, which could then not be revoked.
 * @param change is called with the authority and changes it in place
 * @param configOf `serverConfig`, or the same in another thread; called if a credential was revoked
 * @returns what `change` returns
 * @throws ConfigError if there is no authority in this folder; RouterError `overloaded` if another process does not finish its change
 */
export async function changeAuthority<Result>(
  folder: string,
  change: (authority: Authority) => Result | Promise<Result>,
  configOf: (authority: Authority) => Promise<string> = serverConfig,
): Promise<Result> {
  // This call comes first, so that a folder without an authority gets no lock file.
  readAuthority(folder);
  const lock = await takeFolderLock(folder);
  try {
    const authority = readAuthority(folder);
    const revoked = countRevoked(authority);
    const result = await change(authority);
    // Only a revocation changes the servers' configuration, because servers accept new credentials as they are. The configuration is
    // written first, so that a change interrupted in between can be repeated.
    if (countRevoked(authority) > revoked) replaceFile(serverFile(folder), await configOf(authority), 0o644);
    replaceFile(authorityFile(folder), serializeAuthority(authority));
    return result;
  } finally {
    lock.release();
  }
}

async function takeFolderLock(folder: string): Promise<{ release: () => void }> {
  const deadline = performance.now() + lockWaitMs;
  for (;;) {
    const lock = takeLock(join(folder, 'lock'), unseenHolderMs);
    if ('release' in lock) return lock;
    if (performance.now() > deadline) {
      const message = `${folder} is being changed by another process (${lock.holder}): try again when that has finished`;
      throw new RouterError('overloaded', message, { retryAfter: 5 });
    }
    await sleep(lockPollMs);
  }
}

/** Writes a new authority, readable by its owner only, and the servers' configuration, which contains no secret. */
export async function writeAuthority(folder: string, authority: Authority): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  replaceFile(serverFile(folder), await serverConfig(authority), 0o644);
  replaceFile(authorityFile(folder), serializeAuthority(authority));
}

function countRevoked({ issued }: Authority): number {
  return issued.filter(({ revokedAt }) => revokedAt !== undefined).length;
}

function serializeAuthority(authority: Authority): string {
  return `${JSON.stringify(authority, undefined, 2)}\n`;
}

/** Returns the instructions for a person after a credential is revoked. */
export function revocationNotice(folder: string, name: string): string {
  const file = serverFile(folder);
  return `${name} is revoked as soon as every NATS server has read the new ${file}: copy it to each server and run \`nats-server --signal reload\` there.`;
}
