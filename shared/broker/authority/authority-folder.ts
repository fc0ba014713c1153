import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { RouterError } from '#shared/core/errors.ts';
import { ConfigError } from '#shared/core/load-config.ts';
import { replaceFile } from '#shared/core/replace-file.ts';
import { lockHolder, takeLock } from '#shared/core/take-lock.mjs';
import { parseAuthority, buildServerConfig, isServerConfigOf, isShared, type Authority } from './authority.ts';

export const defaultAuthorityFolder = 'credentials';

/**
 * Maximum milliseconds to wait for the lock. A change takes up to a second, so a longer wait means that many processes change the
 * authority, or that one of them hangs.
 */
const lockWaitMs = 20_000;
/** Milliseconds between two tries to take the lock. */
const lockPollMs = 20;

/**
 * Milliseconds after which a lock counts as free if its holder runs on another machine or in another container. This process cannot check
 * whether such a holder still runs.
 */
const unseenHolderMs = 60_000;

const authorityFile = (folder: string): string => join(folder, 'authority.json');
/** Returns the path of the part of the NATS servers' configuration that names the accepted credentials. */
export const serverConfigFile = (folder: string): string => join(folder, 'nats-auth.conf');
const reloaderLock = (folder: string): string => join(folder, 'reloader');

export function hasAuthority(folder: string): boolean {
  return existsSync(authorityFile(folder));
}

/**
 * Reads the authority in a folder.
 * @throws ConfigError if there is no authority in the folder, or its file is damaged
 */
export function readAuthority(folder: string): Authority {
  if (!hasAuthority(folder))
    throw new ConfigError(
      `there is no authority in ${folder}: create one with \`rtr credentials init --out ${folder}\``,
    );
  const file = authorityFile(folder);
  try {
    return parseAuthority(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw cause instanceof ConfigError ? new ConfigError(`${file}: ${cause.message}`, { cause }) : cause;
  }
}

/** Whether a folder has the servers' configuration of this authority, with the permissions of this release. */
export function hasServerConfig(folder: string, authority: Authority): boolean {
  const file = serverConfigFile(folder);
  return existsSync(file) && isServerConfigOf(authority, readFileSync(file, 'utf8'));
}

/**
 * Changes the authority in a folder under a lock. Writes the servers' configuration anew if `change` revokes a credential or issues a
 * shared one, and if there is none of this authority and release. Without the lock, the second of two simultaneous changes would overwrite the entry of a credential that the first has issued,
 * and that credential could never be revoked.
 * @param change called with the authority, which it changes in place
 * @param buildConfig `buildServerConfig`, or a function that does the same in another thread
 * @returns what `change` returns
 * @throws ConfigError if there is no authority in the folder; RouterError `overloaded` if another process holds the lock for too long
 */
export async function changeAuthority<Result>(
  folder: string,
  change: (authority: Authority) => Result | Promise<Result>,
  buildConfig: (authority: Authority) => Promise<string> = buildServerConfig,
): Promise<Result> {
  // Throws before the lock is taken, so that a folder without an authority gets no lock file.
  readAuthority(folder);
  const lock = await takeFolderLock(folder);
  try {
    const authority = readAuthority(folder);
    const configuredBefore = serializeConfigured(authority);
    const result = await change(authority);
    // The configuration contains only revocations and shared credentials. Servers accept all other new credentials without it. It is
    // written first, so that a change that is interrupted between the two files can be repeated.
    if (serializeConfigured(authority) !== configuredBefore || !hasServerConfig(folder, authority))
      replaceFile(serverConfigFile(folder), await buildConfig(authority), 0o644);
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

/**
 * Writes the two files of a new authority: the authority itself, which only this process's user may read, and the servers' configuration,
 * which contains no secret.
 */
export async function writeAuthority(folder: string, authority: Authority): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  replaceFile(serverConfigFile(folder), await buildServerConfig(authority), 0o644);
  replaceFile(authorityFile(folder), serializeAuthority(authority));
}

/** Returns a text that changes whenever the credentials in the servers' configuration change. */
function serializeConfigured({ issued }: Authority): string {
  const configured = issued.filter((credential) => isShared(credential) || credential.revokedAt !== undefined);
  return configured.map(({ key, revokedAt }) => `${key} ${revokedAt}`).join('\n');
}

function serializeAuthority(authority: Authority): string {
  return `${JSON.stringify(authority, undefined, 2)}\n`;
}

/**
 * Declares that this process makes its NATS server read the configuration in a folder whenever that changes, until the lock is released or
 * the process ends.
 */
export function takeReloaderLock(folder: string): ReturnType<typeof takeLock> {
  return takeLock(reloaderLock(folder));
}

/** Whether a process of this machine makes its NATS server read the configuration in a folder, so that a person has nothing to do. */
export function isReloaded(folder: string): boolean {
  return lockHolder(reloaderLock(folder)) !== undefined;
}

/**
 * Formats the notice that tells a person the effect of a change of the servers' configuration, and what is left to do.
 * @param effect the effect of the change, such as `gpu is revoked`
 */
export function formatReloadNotice(folder: string, effect: string): string {
  if (isReloaded(folder)) return `${effect}.`;
  const file = serverConfigFile(folder);
  return `${effect} as soon as every NATS server has read the new ${file}: copy it to each server and run \`nats-server --signal reload\` there. A NATS server of \`rtr up\` reads it at its next start.`;
}
