import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';

/** Thrown when the dependencies cannot be installed. The message is written for the user. */
export class InstallError extends Error {}

/** The level `http` shows what becomes of each download, which no other output of npm does before its end. */
const flags = ['--no-audit', '--no-fund', '--loglevel=http'];

/**
 * Milliseconds after which an installation ends if every download has failed because no connection could be made. npm itself may try for
 * minutes. A slow network is waited for.
 */
const unreachableAfterMs = 8_000;

/** Codes of errors of connections that could not be made. */
const unreachable = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|ETIMEDOUT)\b/;
const maxOutputLength = 20_000;

/** Milliseconds from SIGTERM to SIGKILL when npm is stopped. */
const stopMs = 5_000;

/**
 * Runs npm in a process group of its own. When this process gets a stop signal, it first stops npm and everything that npm has started.
 * Otherwise these processes would write into the folder that the next start deletes.
 * @param {string} root
 * @param {readonly string[]} args the command first
 * @throws {InstallError}
 */
export async function runNpm(root, args) {
  // npm deletes node_modules, so it must not run on the Node inside it.
  const path = (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => !folder.startsWith(join(root, 'node_modules')));
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    signalGroup(npm.pid, 'SIGTERM');
    setTimeout(() => signalGroup(npm.pid, 'SIGKILL'), stopMs).unref();
  };
  // Before npm starts: a signal in between would end this process, and npm would run on.
  for (const signal of stopSignals) process.on(signal, stop);
  const npm = spawn('npm', [...args, ...flags], {
    cwd: root,
    env: { ...process.env, PATH: path.join(delimiter) },
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  });
  const report = readReport(npm.stderr);
  const ended = once(npm, 'exit');
  const closed = new Promise((resolve) => npm.once('close', resolve));
  const giveUp = () => {
    if (report.hasArrived() || report.failure() === undefined) return;
    signalGroup(npm.pid, 'SIGTERM');
    setTimeout(() => signalGroup(npm.pid, 'SIGKILL'), stopMs).unref();
  };
  const timer = setTimeout(giveUp, unreachableAfterMs);
  try {
    const [status, signal] = await ended;
    if (isStopped) {
      signalGroup(npm.pid, 'SIGKILL');
      throw new InstallError('The installation was stopped. The next start begins it again.');
    }
    await closed;
    if (status === 0) return;
    const code = report.failure();
    if (code !== undefined) {
      throw new InstallError(
        `The packages cannot be downloaded: npm's registry is out of reach (${code}). Check the network, and the proxy and registry of \`npm config list\`.`,
      );
    }
    process.stderr.write(report.output());
    throw new InstallError(`npm ${args[0]} failed (${signal ?? `exit code ${status}`}); its output is above.`);
  } catch (error) {
    if (error instanceof InstallError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new InstallError(`npm cannot be started (${reason}). It comes with Node: check that it is on the PATH.`);
  } finally {
    clearTimeout(timer);
    for (const signal of stopSignals) process.off(signal, stop);
  }
}

/**
 * Reads what npm writes about its downloads and errors.
 * @param {import('node:stream').Readable} input
 */
function readReport(input) {
  let hasArrived = false;
  let output = '';
  /** @type {string | undefined} */
  let failure;
  createInterface({ input }).on('line', (line) => {
    const [, code] = unreachable.exec(line) ?? [];
    if (code !== undefined) failure = code;
    else if (/^npm http (fetch \S+ [23]|cache )/.test(line)) hasArrived = true;
    if (!/^npm (http|warn|notice) /.test(line)) output = `${output}${line}\n`.slice(-maxOutputLength);
  });
  return {
    /** Whether a package has arrived, from the network or from npm's cache. */
    hasArrived: () => hasArrived,
    /** Code of the last connection that could not be made; undefined if all could be made. */
    failure: () => failure,
    output: () => output,
  };
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
