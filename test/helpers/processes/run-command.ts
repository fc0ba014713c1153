import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** A user's command, and its output so far. */
export interface RunningCommand {
  child: ChildProcess;
  /** Standard output so far. */
  readonly out: string;
  /** Standard error so far. */
  readonly err: string;
  /** Resolves with the exit code, null after a signal, when the command and its outputs have ended. */
  ended: Promise<number | null>;
}

export interface CommandOptions {
  cwd: string;
  /** Further environment variables. */
  env?: Record<string, string>;
  /** Whether the command has a process group of its own, which `interrupt` signals as a terminal does. Default: false. */
  isGroup?: boolean;
}

/** Signals all processes of a command with a group, as Ctrl-C does. Does nothing if they have ended. */
export function interrupt({ child: { pid } }: RunningCommand): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGINT');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** Runs a command as a shell would, in a folder and with further environment variables. */
export function runCommand(
  command: string,
  args: readonly string[],
  { cwd, env = {}, isGroup = false }: CommandOptions,
): RunningCommand {
  const child = spawn(command, args, {
    cwd,
    env: { ...userEnvironment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: isGroup,
  });
  const text = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text.out += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text.err += chunk));
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return {
    child,
    ended,
    get out() {
      return text.out;
    },
    get err() {
      return text.err;
    },
  };
}

/** Returns the Node of the user's machine, which may be older than the one that runs the tests. */
export function hostNode(): string {
  const found = folders(process.env['PATH']).map((folder) => join(folder, 'node'));
  return found.find((file) => existsSync(file)) ?? process.execPath;
}

/** Returns the environment of the test run without the variables of npm and the test runner. */
function userEnvironment(): Record<string, string> {
  const { HOME = '/', PATH, LANG = 'C.UTF-8' } = process.env;
  return { HOME, LANG, PATH: folders(PATH).join(delimiter) };
}

function folders(path = ''): string[] {
  return path.split(delimiter).filter((folder) => !folder.includes('node_modules'));
}
