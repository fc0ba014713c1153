import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { processIdentity } from './process-identity.mjs';

/**
 * Takes a lock that one process of this machine can hold. The lock is free again when its holder ends, in whatever way.
 * @param {string} file
 * @returns {{ release: () => void } | { holder: number }} the lock, or the process id of its holder
 */
export function takeLock(file) {
  const mine = JSON.stringify({ pid: process.pid, identity: processIdentity(process.pid) });
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, mine);
  try {
    for (;;) {
      // A hard link appears together with its content, so a reader never finds half a lock.
      if (succeeds('EEXIST', () => linkSync(draft, file))) {
        return { release: () => read(file) === mine && rmSync(file) };
      }
      const theirs = read(file);
      const holder = aliveHolder(theirs);
      if (holder !== undefined) return { holder };
      if (theirs !== undefined) removeStale(file, theirs, draft);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * The process id of the lock's holder; undefined when the lock is free.
 * @param {string} file
 * @returns {number | undefined}
 */
export function lockHolder(file) {
  return aliveHolder(read(file));
}

/** @param {string | undefined} content */
function aliveHolder(content) {
  if (content === undefined) return undefined;
  const { pid, identity } = parseLock(content);
  const isAlive = Number.isInteger(pid) && identity !== undefined && processIdentity(pid) === identity;
  return isAlive ? pid : undefined;
}

/**
 * The content of a lock; empty when the file is damaged, as after a power failure: such a lock has no holder.
 * @param {string} content
 */
function parseLock(content) {
  try {
    return JSON.parse(content) ?? {};
  } catch {
    return {};
  }
}

/**
 * Removes the lock of a dead process. Only the holder of the claim file may do so, and only while the lock is unchanged:
 * another process may have found the same dead lock and put its own in place.
 * @param {string} file
 * @param {string} stale content of the dead lock
 * @param {string} draft
 */
function removeStale(file, stale, draft) {
  const claim = `${file}.claim`;
  if (!succeeds('EEXIST', () => linkSync(draft, claim))) {
    const claimed = read(claim);
    if (claimed !== undefined && aliveHolder(claimed) === undefined) rmSync(claim, { force: true });
    return;
  }
  try {
    if (read(file) === stale) rmSync(file);
  } finally {
    rmSync(claim);
  }
}

/**
 * Content of a lock file; undefined when there is none.
 * @param {string} file
 */
function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw error;
  }
}

/**
 * Whether a call succeeded; false when it failed with just this code.
 * @param {string} code
 * @param {() => void} call
 */
function succeeds(code, call) {
  try {
    call();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === code) return false;
    throw error;
  }
}
