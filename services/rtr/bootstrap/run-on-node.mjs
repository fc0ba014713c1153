import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** Major version of Node that the project needs. */
export const requiredMajor = 24;

/** Whether the Node that runs this file can also run the project. */
export const hostNodeSuffices = Number(process.versions.node.split('.')[0]) >= requiredMajor;

/** Milliseconds within which several signals count as one, because the terminal and npm each send a signal for one key press. */
const duplicateSignalMs = 500;

const npmPollMs = 1_000;

/** Id of the parent process. Read when the module loads, because npm may end during an installation, which can take minutes. */
const initialParent = process.ppid;

/**
 * Runs a file of the project on Node 24 with this process's terminal, forwards signals to it, and exits with its exit code or signal. If
 * npm started this process, the program receives SIGTERM when npm ends.
 *
 * The program runs in its own process group, so it receives each signal exactly once, from this process. The program has an IPC channel
 * that closes when this process ends.
 * @param {string} root folder of the project
 * @param {string} file path inside the project
 * @param {readonly string[]} args
 * @param {object} options
 * @param {readonly string[]} options.nodeFlags command-line flags for Node
 * @param {string} options.folder the data folder
 * @param {string | undefined} [options.node] the program of Node; by default the one of `findNode`
 * @param {() => Promise<boolean>} [options.repair] called if the program ends before it sends `loaded` on its IPC channel. If it resolves
 * with true, the program is run once more
 */
export function runOnNode(root, file, args, { nodeFlags, folder, node = findNode(root), repair }) {
  if (node === undefined) {
    console.error(
      `Node ${requiredMajor} is required, and its package did not install: run \`npm rebuild node\`, or use Node ${requiredMajor}.`,
    );
    process.exit(1);
  }
  const child = spawn(node, [...nodeFlags, join(root, file), ...args], {
    detached: true,
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    // Node stores compiled code here, which shortens later starts.
    env: { NODE_COMPILE_CACHE: join(folder, 'compile-cache'), ...process.env },
  });
  let isLoaded = false;
  child.on('message', (message) => (isLoaded ||= message === 'loaded'));
  forwardSignals(child);
  watchForNpmEnd(child);
  child.on('error', (error) => {
    console.error(`Node ${requiredMajor} cannot be started: ${error.message}`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else if (code === 1 && !isLoaded && repair) {
      void repair().then((isRepaired) =>
        isRepaired ? runOnNode(root, file, args, { nodeFlags, folder }) : process.exit(1),
      );
    } else process.exit(code ?? 1);
  });
}

/**
 * Returns the path of a Node that can run the project; undefined if there is none.
 * @param {string} root folder of the project
 */
export function findNode(root) {
  const packagedNode = join(root, 'node_modules', 'node', 'bin', 'node');
  return existsSync(packagedNode) ? packagedNode : hostNodeSuffices ? process.execPath : undefined;
}

/** @param {import('node:child_process').ChildProcess} child */
function forwardSignals(child) {
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    let forwardedAt = -Infinity;
    const forward = () => {
      if (performance.now() - forwardedAt < duplicateSignalMs) return;
      forwardedAt = performance.now();
      signalGroup(child, signal);
    };
    process.on(signal, forward);
    child.once('exit', () => process.off(signal, forward));
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
 * If npm started this process, ends the child once npm has ended. npm ends at SIGTERM and SIGHUP without signalling its child, so nothing
 * would stop the child. Without npm, a process may outlive its parent on purpose, as after `nohup` or `&`.
 * @param {import('node:child_process').ChildProcess} child
 */
function watchForNpmEnd(child) {
  // Both `npm start` and `npx` set this variable.
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const timer = setInterval(() => {
    if (process.ppid === initialParent) return;
    clearInterval(timer);
    signalGroup(child, 'SIGTERM');
  }, npmPollMs);
  timer.unref();
  child.once('exit', () => {
    clearInterval(timer);
  });
}
