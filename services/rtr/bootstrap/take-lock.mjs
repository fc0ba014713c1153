import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { processIdentity } from './process-identity.mjs';

/**
 * Takes a lock that one process of this machine can hold; it ends with its holder, however that ends.
 * @param {string} file
 * @returns {{ release: () => void } | { holder: number }} the lock, or the process id of who has it
 */
export function takeLock(file) {
  const mine = JSON.stringify({ pid: process.pid, identity: processIdentity(process.pid) });
  mkdirSync(dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, mine);
  try {
    for (;;) {
      // A link appears with its content in one step, so no one ever reads half a lock.
      if (succeeds('EEXIST', () => linkSync(draft, file))) {
        return { release: () => read(file) === mine && rmSync(file) };
      }
      const theirs = read(file);
      const holder = lockHolder(file);
      if (holder !== undefined) return { holder };
      if (theirs !== undefined) removeStale(file, theirs);
    }
  } finally {
    rmSync(draft, { force: true });
  }
}

/**
 * The process id of who holds the lock; undefined when it is free.
 * @param {string} file
 * @returns {number | undefined}
 */
export function lockHolder(file) {
  const content = read(file);
  if (content === undefined) return undefined;
  const { pid, identity } = JSON.parse(content);
  return processIdentity(pid) === identity ? pid : undefined;
}

/**
 * Moves the lock of a dead process out of the way. Between our look and our move another process may have put its own
 * lock there: then that goes back.
 * @param {string} file
 * @param {string} stale
 */
function removeStale(file, stale) {
  const aside = `${file}.stale.${process.pid}`;
  if (!succeeds('ENOENT', () => renameSync(file, aside))) return;
  if (read(aside) !== stale) succeeds('EEXIST', () => linkSync(aside, file));
  rmSync(aside);
}

/** @param {string} file */
function read(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
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
