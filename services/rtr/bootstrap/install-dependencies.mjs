import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockHolder, takeLock } from '../../../shared/core/take-lock.mjs';
import { findMissingDependencies } from './missing-dependencies.mjs';

/** Thrown when the dependencies cannot be installed. The message is written for the user. */
export class InstallError extends Error {}

/** Maximum milliseconds to wait for an installation that another process runs. */
const lockTimeoutMs = 600_000;

/**
 * Installs the packages of the lock file into `node_modules`, unless all are installed. Only one process installs at a time; other
 * processes wait.
 * @param {string} root folder of the project
 * @param {import('./missing-dependencies.mjs').Purpose} purpose
 * @throws {InstallError}
 */
export async function installDependencies(root, purpose) {
  if (findMissingDependencies(root, purpose).length === 0) return;
  const clusterProcess = lockHolder(join(root, '.rtr', 'up.lock'));
  if (clusterProcess !== undefined) {
    throw new InstallError(
      `The dependencies have changed, but a cluster (process ${clusterProcess}) runs on the installed ones: stop it first.`,
    );
  }
  const lock = await waitForLock(join(root, '.rtr', 'install.lock'));
  try {
    const missing = findMissingDependencies(root, purpose);
    if (missing.length > 0) await install(root, missing.length);
  } finally {
    lock.release();
  }
}

/** @param {string} file */
async function waitForLock(file) {
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
    throw new InstallError(
      `The dependencies cannot be installed (${reason}): ${dirname(file)} must be a writable folder.`,
    );
  }
}

/**
 * Installs the packages without running their scripts, then runs the scripts of the packages in `allowScripts`. Two steps are needed,
 * because older versions of npm ignore `allowScripts` and run every script.
 * @param {string} root
 * @param {number} count number of packages to install, for the message
 * @throws {InstallError}
 */
async function install(root, count) {
  console.error(`Installing dependencies (npm ci): ${count} packages are missing or have another version …`);
  await runNpm(root, ['ci', '--include=dev', '--ignore-scripts', ...quietFlags]);
  const { allowScripts = {} } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const allowed = Object.keys(allowScripts).filter((name) => allowScripts[name] === true);
  if (allowed.length > 0) await runNpm(root, ['rebuild', ...allowed, ...quietFlags]);
}

const quietFlags = ['--no-audit', '--no-fund', '--loglevel=error'];

/** Milliseconds from SIGTERM to SIGKILL when npm is stopped. */
const stopMs = 5_000;

/**
 * Runs npm in a process group of its own. When this process gets a stop signal, it first stops npm and everything that npm has started.
 * Otherwise these processes would write into the folder that the next start deletes.
 * @param {string} root
 * @param {readonly string[]} args the command first
 * @throws {InstallError}
 */
async function runNpm(root, args) {
  // npm deletes node_modules, so it must not run on the Node inside it.
  const path = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.startsWith(join(root, 'node_modules')));
  const npm = spawn('npm', args, {
    cwd: root,
    env: { ...process.env, PATH: path.join(delimiter) },
    stdio: ['ignore', 'ignore', 'inherit'],
    detached: true,
  });
  const ended = once(npm, 'exit');
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    signalGroup(npm.pid, 'SIGTERM');
    setTimeout(() => signalGroup(npm.pid, 'SIGKILL'), stopMs).unref();
  };
  for (const signal of stopSignals) process.on(signal, stop);
  try {
    const [status, signal] = await ended;
    if (isStopped) {
      signalGroup(npm.pid, 'SIGKILL');
      throw new InstallError('The installation was stopped. The next start begins it again.');
    }
    if (status !== 0)
      throw new InstallError(`npm ${args[0]} failed (${signal ?? `exit code ${status}`}); its output is above.`);
  } catch (error) {
    if (error instanceof InstallError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new InstallError(`npm cannot be started (${reason}). It comes with Node: check that it is on the PATH.`);
  } finally {
    for (const signal of stopSignals) process.off(signal, stop);
  }
}

/** @type {readonly NodeJS.Signals[]} */
const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/**
 * @param {number | undefined} pid id of the group's first process
 * @param {NodeJS.Signals} signal
 */
function signalGroup(pid, signal) {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // All processes of the group have ended.
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
