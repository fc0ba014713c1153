import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { builtFile } from './built-file.ts';

/** Keeps the compiled code of services between starts, so that each start takes half the time. */
export const compileCache = join(import.meta.dirname, '..', '..', '..', '.rtr', 'compile-cache');

const memoryLimiter = pathToFileURL(join(import.meta.dirname, 'limit-memory.mjs')).href;

/**
 * Starts a program: the built one for the main file of a service, as the image has it, or its sources if `NODE_OPTIONS` preloads a module
 * that changes them. With `MEMORY_BYTES`, it has the bounds of a process with so much memory. The IPC channel stops it when the test process dies.
 * @param nodeFlags default: those of this process
 */
export function startProcess(
  file: string,
  environment: Record<string, string>,
  args: readonly string[] = [],
  nodeFlags: readonly string[] = process.execArgv,
) {
  const child = fork(environment['NODE_OPTIONS'] === undefined ? builtFile(file) : file, args, {
    env: { PATH: process.env['PATH'], LOG_FORMAT: 'json', NODE_COMPILE_CACHE: compileCache, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    execArgv: environment['MEMORY_BYTES'] === undefined ? [...nodeFlags] : [...nodeFlags, `--import=${memoryLimiter}`],
  });
  const lines: Record<string, unknown>[] = [];
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(readLine(line));
      for (const look of waiting) look();
    });
  }
  const gone = once(child, 'exit');
  return {
    child,
    /** Its log lines, as objects; a line that is not JSON becomes `{ msg }`. */
    lines,
    /** Waits for the first line with this message; rejects when the process and its output end, or after the timeout. */
    line: (message: string, ms = 30_000) =>
      new Promise<Record<string, unknown>>((resolve, reject) => {
        const timer = setTimeout(() => fail(`did not log "${message}" within ${ms} ms`), ms);
        const look = (): void => {
          const found = lines.find(({ msg }) => msg === message);
          if (found) done(() => resolve(found));
        };
        const fail = (why: string): void =>
          done(() => reject(new Error(`${file} ${why}; its last lines: ${JSON.stringify(lines.slice(-5))}`)));
        const done = (settle: () => void): void => {
          clearTimeout(timer);
          waiting.delete(look);
          settle();
        };
        waiting.add(look);
        // Its last lines may come after its exit.
        child.once('close', (code) => fail(`ended with code ${code}`));
        look();
      }),
    /** Sends SIGTERM and waits until it is gone. */
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
      await gone;
      return child.exitCode;
    },
    /** Ends it with SIGKILL and waits until it is gone. */
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** A service's process of a test, with every line that it logged. */
export type ServiceProcess = ReturnType<typeof startProcess>;

function readLine(line: string): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    return { msg: line };
  }
}
