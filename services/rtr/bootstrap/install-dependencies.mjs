import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { takeLock } from '../../../shared/core/take-lock.mjs';
import { findMissingDependencies } from './missing-dependencies.mjs';
import { findRunningCluster } from './running-cluster.mjs';
import { reportProgress } from './report-progress.mjs';
import { InstallError, runNpm } from './run-npm.mjs';

/** Maximum milliseconds to wait for an installation that another process runs. */
const lockTimeoutMs = 600_000;

/**
 * Installs the packages of the lock file into `node_modules`, unless all are installed. Only one process installs at a time; other
 * processes wait.
 * @param {string} root folder of the project
 * @param {import('./missing-dependencies.mjs').Purpose} purpose
 * @param {{ areDamaged?: boolean }} [options] `areDamaged`: installs the packages again
 * @throws {InstallError}
 */
export async function installDependencies(root, purpose, { areDamaged = false } = {}) {
  if (!areDamaged && findMissingDependencies(root, purpose).length === 0) return;
  const clusterProcess = findRunningCluster(root);
  if (clusterProcess !== undefined) {
    throw new InstallError(
      `The dependencies ${areDamaged ? 'are damaged' : 'have changed'}, but a cluster (process ${clusterProcess}) runs on the installed ones: stop it first.`,
    );
  }
  const lock = await waitForLock(join(root, '.rtr', 'install.lock'));
  try {
    // Without its record, npm installs every package anew.
    if (areDamaged) rmSync(join(root, 'node_modules', '.package-lock.json'), { force: true });
    const missing = findMissingDependencies(root, purpose);
    if (missing.length > 0) await install(root, missing);
  } finally {
    lock.release();
  }
}

/**
 * Acquires the lock of an installation, and waits while another process holds it.
 * @param {string} file
 * @throws {InstallError}
 */
export async function waitForLock(file) {
  const deadline = Date.now() + lockTimeoutMs;
  for (let isAnnounced = false; ; isAnnounced = true) {
    const lock = takeInstallLock(file);
    if ('release' in lock) return lock;
    if (!isAnnounced) console.error(`Waiting for another installation (process ${lock.holder}) to finish …`);
    if (Date.now() > deadline)
      throw new InstallError(`Another installation (process ${lock.holder}) has not finished.`);
    await sleep(200);
  }
}

/** @param {string} file */
function takeInstallLock(file) {
  try {
    return takeLock(file);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new InstallError(`Nothing can be installed (${reason}): ${dirname(file)} must be a writable folder.`);
  }
}

/**
 * Installs the packages without running their scripts, then runs the scripts of the packages in `allowScripts`. Two steps are needed,
 * because older versions of npm ignore `allowScripts` and run every script.
 * @param {string} root
 * @param {string[]} missing folders of the packages to install
 * @throws {InstallError}
 */
async function install(root, missing) {
  console.error(`Installing dependencies (npm ci): ${missing.length} packages are missing or have another version …`);
  const progress = reportProgress(root, missing);
  try {
    await runNpm(root, ['ci', '--include=dev', '--ignore-scripts']);
  } finally {
    progress.stop();
  }
  const { allowScripts = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name] === true);
  if (allowed.length > 0) await runNpm(root, ['rebuild', ...allowed]);
}
