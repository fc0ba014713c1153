import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** Milliseconds after which a lock counts as abandoned even if its process still runs, because no refresh takes that long. */
const staleMs = 15_000;

/** Maximum milliseconds to wait for a lock. */
const waitMs = 3_500;

const retryMs = 50;

/** Milliseconds after which a lock without a process id counts as abandoned. */
const emptyMs = 1_000;

/**
 * Runs a task while no other process runs a task with the same lock. Removes a lock that a killed process has left behind. If two processes
 * remove that lock at the same time, both run their tasks. This is harmless, because the router answers two simultaneous refreshes with the
 * same tokens.
 * @template T
 * @param {string} path path of the lock's file
 * @param {() => Promise<T>} task
 * @returns {Promise<T | undefined>} undefined if the lock was not free in time
 */
export async function withLock(path, task) {
  const deadline = performance.now() + waitMs;
  while (!takeLock(path)) {
    if (performance.now() >= deadline) return undefined;
    if (isAbandoned(path)) rmSync(path, { force: true });
    else await pause(retryMs);
  }
  try {
    return await task();
  } finally {
    rmSync(path, { force: true });
  }
}

/** @param {string} path */
function takeLock(path) {
  try {
    const file = openSync(path, 'wx', 0o600);
    writeSync(file, String(process.pid));
    closeSync(file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** @param {string} path */
function isAbandoned(path) {
  try {
    if (Date.now() - statSync(path).mtimeMs > staleMs) return true;
    const pid = Number(readFileSync(path, 'utf8'));
    // The process was killed before it could write its id.
    if (pid === 0) return Date.now() - statSync(path).mtimeMs > emptyMs;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    // ESRCH: the process has ended. Other errors mean that the lock was released in the meantime, or that another user holds it.
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
}
