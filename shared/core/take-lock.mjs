import { randomBytes } from 'node:crypto';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { processIdentity, getProcessSpace } from './process-identity.mjs';

/** The errors of a rename onto a lock that exists. `ENOTDIR`: the lock of an earlier release, which is a file. */
const occupiedCodes = ['ENOTEMPTY', 'EEXIST', 'ENOTDIR'];

/**
 * Acquires a lock that only one process can hold at a time. When its holder ends, in whatever way, the lock is free again.
 *
 * The lock is a folder with one file, which describes the holder and whose name no other lock has. A process that removes the file of a
 * dead holder can therefore not remove the lock of another process that has been faster. A folder without a file is a free lock.
 * @param {string} path
 * @param {number} [unseenMs] milliseconds for which a holder on another machine or in another container, which is not visible from here,
 * counts as alive. By default, all holders count as processes of this machine
 * @returns {{ release: () => void } | { holder: number }} the lock, or the process id of its holder
 */
export function takeLock(path, unseenMs = 0) {
  const name = randomBytes(6).toString('hex');
  const facts = { pid: process.pid, identity: processIdentity(process.pid), space: getProcessSpace() };
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${name}`;
  mkdirSync(draft);
  try {
    writeFileSync(join(draft, name), JSON.stringify(facts));
    for (;;) {
      // A rename replaces an empty folder, and fails for any other. The folder appears together with its file.
      if (tryCall(occupiedCodes, () => renameSync(draft, path))) return { release: () => release(path, name) };
      const lockFile = findLockFile(path);
      const holder = findAliveHolder(lockFile, unseenMs);
      if (holder !== undefined) return { holder };
      if (lockFile !== undefined) removeDead(lockFile);
    }
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * Returns the process id of the lock's holder; undefined if the lock is free.
 * @param {string} path
 * @returns {number | undefined}
 */
export function lockHolder(path) {
  return findAliveHolder(findLockFile(path), 0);
}

/**
 * Returns the path of the file that describes a lock's holder; undefined if there is none.
 * @param {string} path
 */
function findLockFile(path) {
  try {
    const [name] = readdirSync(path);
    return name === undefined ? undefined : join(path, name);
  } catch (error) {
    if (hasCode(error, ['ENOENT'])) return undefined;
    // The lock of an earlier release is itself the file.
    if (hasCode(error, ['ENOTDIR'])) return path;
    throw error;
  }
}

/**
 * Returns the process id of the holder that a lock's file describes; undefined if there is no file or the holder has ended.
 * @param {string | undefined} lockFile
 * @param {number} unseenMs
 */
function findAliveHolder(lockFile, unseenMs) {
  const content = lockFile === undefined ? undefined : readLock(lockFile);
  if (lockFile === undefined || content === undefined) return undefined;
  const { pid, identity, space = getProcessSpace() } = parseLock(content);
  // By default the space is ignored, because it contains the machine's name, which may change while a process holds a lock.
  if (unseenMs > 0 && space !== getProcessSpace()) return computeAgeMs(lockFile) < unseenMs ? pid : undefined;
  const isAlive = Number.isInteger(pid) && identity !== undefined && processIdentity(pid) === identity;
  return isAlive ? pid : undefined;
}

/**
 * Parses the content of a lock's file. A damaged file, as after a power failure, gives an empty object; such a lock has no holder.
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
 * Removes the file of a dead holder, unless another process has done so. Another process may have put its lock into the place of an earlier
 * release's file: a folder, which `unlink` does not remove.
 * @param {string} lockFile
 */
function removeDead(lockFile) {
  try {
    unlinkSync(lockFile);
  } catch (error) {
    if (statSync(lockFile, { throwIfNoEntry: false })?.isFile()) throw error;
  }
}

/**
 * Releases this process's lock. Does nothing to a lock that another process has taken since.
 * @param {string} path
 * @param {string} name name of the file of this process's lock
 */
function release(path, name) {
  rmSync(join(path, name), { force: true });
  tryCall(['ENOENT', ...occupiedCodes], () => rmdirSync(path));
}

/**
 * Reads the file of a lock; undefined if there is none, or another process has meanwhile put its lock into the place of the file.
 * @param {string} lockFile
 */
function readLock(lockFile) {
  try {
    return readFileSync(lockFile, 'utf8');
  } catch (error) {
    if (hasCode(error, ['ENOENT', 'ENOTDIR', 'EISDIR'])) return undefined;
    throw error;
  }
}

/**
 * Returns the milliseconds since a lock was acquired; a very large number if it is gone.
 * @param {string} lockFile
 */
function computeAgeMs(lockFile) {
  const acquiredAt = statSync(lockFile, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return Date.now() - acquiredAt;
}

/**
 * Runs a call, and returns whether it succeeded; false if it failed with one of these codes. Other errors are thrown.
 * @param {readonly string[]} codes
 * @param {() => void} call
 */
function tryCall(codes, call) {
  try {
    call();
    return true;
  } catch (error) {
    if (hasCode(error, codes)) return false;
    throw error;
  }
}

/**
 * @param {unknown} error
 * @param {readonly string[]} codes
 */
function hasCode(error, codes) {
  return error instanceof Error && 'code' in error && codes.includes(String(error.code));
}
