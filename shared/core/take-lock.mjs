import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { processIdentity, getProcessSpace } from './process-identity.mjs';

/**
 * Acquires a lock that only one process can hold at a time. When its holder ends, in whatever way, the lock is free again.
 * @param {string} file
 * @param {number} [unseenMs] milliseconds for which a holder on another machine or in another container, which is not visible from here,
 * counts as alive. By default, all holders count as processes of this machine
 * @returns {{ release: () => void } | { holder: number }} the lock, or the process id of its holder
 */
export function takeLock(file, unseenMs = 0) {
  // Processes of two containers may have the same id, and one process may acquire a lock twice.
  const nonce = randomBytes(6).toString('hex');
  const facts = { pid: process.pid, identity: processIdentity(process.pid), space: getProcessSpace(), nonce };
  const ownContent = JSON.stringify(facts);
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${nonce}`;
  writeFileSync(draft, ownContent);
  try {
    for (;;) {
      // A hard link appears together with its content, so a reader never finds half a lock.
      if (tryCall('EEXIST', () => linkSync(draft, file))) {
        return { release: () => readLock(file) === ownContent && rmSync(file) };
      }
      const lockContent = readLock(file);
      const holder = findAliveHolder(file, lockContent, unseenMs);
      if (holder !== undefined) return { holder };
      if (lockContent !== undefined) removeStale(file, lockContent, draft, unseenMs);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * Returns the process id of the lock's holder; undefined if the lock is free.
 * @param {string} file
 * @returns {number | undefined}
 */
export function lockHolder(file) {
  return findAliveHolder(file, readLock(file), 0);
}

/**
 * Returns the process id of the holder that a lock's content names; undefined if there is no content or the holder has ended.
 * @param {string} file
 * @param {string | undefined} content
 * @param {number} unseenMs
 */
function findAliveHolder(file, content, unseenMs) {
  if (content === undefined) return undefined;
  const { pid, identity, space = getProcessSpace() } = parseLock(content);
  // By default the space is ignored, because it contains the machine's name, which may change while a process holds a lock.
  if (unseenMs > 0 && space !== getProcessSpace()) return computeAgeMs(file) < unseenMs ? pid : undefined;
  const isAlive = Number.isInteger(pid) && identity !== undefined && processIdentity(pid) === identity;
  return isAlive ? pid : undefined;
}

/**
 * Parses the content of a lock. A damaged file, as after a power failure, gives an empty object; such a lock has no holder.
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
 * Removes the lock of a dead process. Only the process that has created the file `….claim` may remove it, and only while the lock is
 * unchanged. Another process may have found the same dead lock and put its own lock in its place.
 * @param {string} file
 * @param {string} staleContent content of the dead lock
 * @param {string} draft a file with the content of this process's lock
 * @param {number} unseenMs
 */
function removeStale(file, staleContent, draft, unseenMs) {
  const claimFile = `${file}.claim`;
  if (!tryCall('EEXIST', () => linkSync(draft, claimFile))) {
    const claimContent = readLock(claimFile);
    if (claimContent !== undefined && findAliveHolder(claimFile, claimContent, unseenMs) === undefined)
      rmSync(claimFile, { force: true });
    return;
  }
  try {
    if (readLock(file) === staleContent) rmSync(file);
  } finally {
    rmSync(claimFile);
  }
}

/**
 * Reads a lock file; undefined if there is none.
 * @param {string} file
 */
function readLock(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw error;
  }
}

/**
 * Returns the milliseconds since a lock was acquired; a very large number if there is none.
 * @param {string} file
 */
function computeAgeMs(file) {
  const acquiredAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Date.now() - acquiredAt;
}

/**
 * Runs a call, and returns whether it succeeded; false if it failed with this code. Other errors are thrown.
 * @param {string} code
 * @param {() => void} call
 */
function tryCall(code, call) {
  try {
    call();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === code) return false;
    throw error;
  }
}
