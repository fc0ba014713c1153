import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { packageFile } from '#shared/core/installed-package.mjs';
import { hostNode } from './run-command.ts';

/** A command in a process group of its own, as a terminal starts it, and its output so far. */
export interface TerminalCommand {
  readonly out: string;
  readonly err: string;
  /** Signals the whole group, as a terminal does at Ctrl-C. */
  interrupt: () => void;
  /** Resolves with the exit code, null after a signal. */
  ended: Promise<number | null>;
}

/** Packs the package of this checkout, and returns the file. */
export async function packProgram(): Promise<string> {
  await promisify(execFile)(process.execPath, ['services/rtr/main.ts', 'build', '--package']);
  return join(process.cwd(), packageFile);
}

/**
 * Returns a function that runs `rtr` from a packed file, as somebody with an empty home folder and only the system's programs does: npx
 * installs it first.
 * @param npmCache folder that npm keeps downloads in; by default one in the home folder
 */
export function createNpx(
  file: string,
  home: string,
  npmCache?: string,
): (words: readonly string[], variables?: Record<string, string>) => TerminalCommand {
  const work = join(home, 'work');
  mkdirSync(work, { recursive: true });
  const { NODE_EXTRA_CA_CERTS = '', npm_config_registry: registry = '' } = process.env;
  const env = {
    HOME: home,
    LANG: 'C.UTF-8',
    PATH: [dirname(hostNode()), '/usr/bin', '/bin'].join(delimiter),
    // How this machine reaches its registry.
    ...(NODE_EXTRA_CA_CERTS && { NODE_EXTRA_CA_CERTS }),
    ...(registry && { npm_config_registry: registry }),
    ...(npmCache !== undefined && { npm_config_cache: npmCache }),
  };
  return (words, variables = {}) =>
    follow(
      spawn('npx', ['--yes', `file:${file}`, ...words], {
        cwd: work,
        env: { ...env, ...variables },
        detached: true,
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    );
}

function follow(child: ChildProcess): TerminalCommand {
  const text = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => (text.out += chunk));
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => (text.err += chunk));
  return {
    get out() {
      return text.out;
    },
    get err() {
      return text.err;
    },
    interrupt: () => {
      if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
        process.kill(-child.pid, 'SIGINT');
    },
    ended: new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    }),
  };
}
