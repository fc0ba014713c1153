import { spawnSync } from 'node:child_process';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { missingDependencies } from './missing-dependencies.mjs';
import { lockHolder, takeLock } from './take-lock.mjs';

/** The dependencies could not be installed; the message is fit to be shown as it is. */
export class InstallError extends Error {}

const waitForOtherMs = 600_000;

/**
 * Makes `node_modules` what the lock file says, unless it is already. One process at a time does it, others wait for it.
 * @param {string} root folder of the project
 * @param {import('./missing-dependencies.mjs').Purpose} purpose
 * @throws {InstallError}
 */
export async function installDependencies(root, purpose) {
  if (missingDependencies(root, purpose).length === 0) return;
  const running = lockHolder(join(root, '.rtr', 'up.lock'));
  if (running !== undefined) {
    throw new InstallError(
      `The dependencies have changed, but a cluster (process ${running}) runs on the installed ones: stop it first.`,
    );
  }
  const lock = await waitForLock(join(root, '.rtr', 'install.lock'));
  try {
    const missing = missingDependencies(root, purpose);
    if (missing.length > 0) runNpm(root, missing.length);
  } finally {
    lock.release();
  }
}

/** @param {string} file */
async function waitForLock(file) {
  const deadline = Date.now() + waitForOtherMs;
  for (let told = false; ; told = true) {
    const lock = takeInstallLock(file);
    if ('release' in lock) return lock;
    if (!told) console.error(`Waiting for another installation (process ${lock.holder}) …`);
    if (Date.now() > deadline) throw new InstallError(`Another installation (process ${lock.holder}) does not end.`);
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
      `The dependencies cannot be installed (${reason}): ${dirname(file)} must be a folder that you can write to.`,
    );
  }
}

/**
 * @param {string} root
 * @param {number} count
 */
function runNpm(root, count) {
  console.error(`Installing dependencies (npm ci): ${count} packages are missing or of another version …`);
  // npm must not run on the Node inside node_modules, which it is about to delete.
  const path = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.startsWith(join(root, 'node_modules')));
  const { status, signal, error } = spawnSync(
    'npm',
    ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'],
    {
      cwd: root,
      env: { ...process.env, PATH: path.join(delimiter) },
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  if (error)
    throw new InstallError(`npm could not be started (${error.message}): it comes with Node, is it on the PATH?`);
  if (status !== 0)
    throw new InstallError(`npm ci failed (${signal ?? `exit code ${status}`}); its own message is above.`);
}
