import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The major version of Node for which the project's code is written. */
export const neededNode = 24;

/** Whether the Node that runs this file can run the project too. */
export const hostNodeSuffices = Number(process.versions.node.split('.')[0]) >= neededNode;

/** Milliseconds within which several signals count as one, because the terminal and npm each send a signal for one key press. */
const oneKeyPressMs = 500;

const npmPollMs = 1_000;

/** Id of the parent process. It is read when the module loads, because npm may end during an installation, which can take minutes. */
const firstParent = process.ppid;

/**
 * Runs a file of the project on Node 24 with this process's terminal, forwards signals to the program, and exits as the program exits. If
 * npm started this process, the program receives SIGTERM when npm ends.
 *
 * The program runs in its own process group, so each signal reaches it exactly once, from this process. It has an IPC channel, which closes
 * when this process ends.
 * @param {string} root folder of the project
 * @param {string} file path inside the project
 * @param {readonly string[]} args
 * @param {readonly string[]} nodeFlags command-line flags for Node
 */
export function runOnNode(root, file, args, nodeFlags) {
  const packagedNode = join(root, 'node_modules', 'node', 'bin', 'node');
  if (!existsSync(packagedNode) && !hostNodeSuffices) {
    console.error(
      `Node ${neededNode} is required, and its package did not install: run \`npm rebuild node\`, or use Node ${neededNode}.`,
    );
    process.exit(1);
  }
  const child = spawn(
    existsSync(packagedNode) ? packagedNode : process.execPath,
    [...nodeFlags, join(root, file), ...args],
    {
      detached: true,
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      // Node stores compiled code here, which shortens later starts.
      env: { NODE_COMPILE_CACHE: join(root, '.rtr', 'compile-cache'), ...process.env },
    },
  );
  forwardSignals(child);
  onNpmEnd(() => signalGroup(child, 'SIGTERM'));
  child.on('error', (error) => {
    console.error(`Node ${neededNode} cannot be started: ${error.message}`);
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
 * Signals the whole process group, as a terminal does.
 * @param {import('node:child_process').ChildProcess} child
 * @param {NodeJS.Signals} signal
 */
function signalGroup({ pid }, signal) {
  if (pid !== undefined) process.kill(-pid, signal);
}

/**
 * If npm started this process, calls `onGone` once npm has ended. npm ends at SIGTERM and SIGHUP without signalling its child, which would
 * run on with nothing left to stop it. Without npm, a process whose parent has ended is intended: `nohup` and `&` make one.
 * @param {() => void} onGone
 */
function onNpmEnd(onGone) {
  // Both `npm start` and `npx` set this variable.
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const timer = setInterval(() => {
    if (process.ppid === firstParent) return;
    clearInterval(timer);
    onGone();
  }, npmPollMs);
  timer.unref();
}
