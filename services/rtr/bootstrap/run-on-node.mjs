import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The major version that the project's code is written for. */
export const neededNode = 24;

/** Whether the Node that runs this file can run the project too. */
export const hostNodeSuffices = Number(process.versions.node.split('.')[0]) >= neededNode;

/** One key press reaches us more than once, from the terminal and from npm; within this time it counts as one. */
const oneKeyPressMs = 500;

const watchEveryMs = 1_000;

/** Read before anything else: an installation may take minutes, and npm may go in the meantime. */
const firstParent = process.ppid;

/**
 * Runs a file of the project on Node 24 with our terminal, forwards signals to it, and ends as it ends. When npm has
 * started us and is gone, the program is asked to end.
 *
 * It runs in a process group of its own, so that each signal reaches it exactly once, through us. It has an IPC channel to
 * us, whose end tells it that we are gone.
 * @param {string} root folder of the project
 * @param {string} file path inside the project
 * @param {readonly string[]} args
 * @param {readonly string[]} nodeFlags what Node is told
 */
export function runOnNode(root, file, args, nodeFlags) {
  const packaged = join(root, 'node_modules', 'node', 'bin', 'node');
  if (!existsSync(packaged) && !hostNodeSuffices) {
    console.error(
      `Node ${neededNode} is needed and its package did not install: allow npm install scripts, or use Node ${neededNode}.`,
    );
    process.exit(1);
  }
  const child = spawn(existsSync(packaged) ? packaged : process.execPath, [...nodeFlags, join(root, file), ...args], {
    detached: true,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    // Compiled code is kept, which makes later starts quicker.
    env: { NODE_COMPILE_CACHE: join(root, '.rtr', 'compile-cache'), ...process.env },
  });
  forwardSignals(child);
  watchNpm(() => signalGroup(child, 'SIGTERM'));
  child.on('error', (error) => {
    console.error(`Node ${neededNode} could not be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (!signal) process.exit(code ?? 1);
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}

/** @param {import('node:child_process').ChildProcess} child */
function forwardSignals(child) {
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    let last = -Infinity;
    process.on(signal, () => {
      if (performance.now() - last < oneKeyPressMs) return;
      last = performance.now();
      signalGroup(child, signal);
    });
  }
}

/**
 * Signals the whole group, as a terminal does it.
 * @param {import('node:child_process').ChildProcess} child
 * @param {NodeJS.Signals} signal
 */
function signalGroup({ pid }, signal) {
  if (pid !== undefined) process.kill(-pid, signal);
}

/**
 * Calls back once when npm has started us and is gone. npm ends at SIGTERM and SIGHUP without a word to what it runs, and
 * then nobody would be left who can be told to stop us. Without npm in between an orphan is wanted: `nohup` and `&` make
 * one when their shell ends.
 * @param {() => void} onGone
 */
function watchNpm(onGone) {
  // Set by `npm start` and by `npx` alike.
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const look = setInterval(() => {
    if (process.ppid === firstParent) return;
    clearInterval(look);
    onGone();
  }, watchEveryMs);
  look.unref();
}
