import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Environment } from '#shared/core/load-config.ts';
import { findServer, type ServerKind } from './find-server.ts';

interface Packages {
  title: string;
  apt: string;
  brew: string;
}

const packages: Record<ServerKind, Packages> = {
  nats: { title: 'NATS', apt: 'nats-server', brew: 'nats-server' },
  redis: { title: 'Redis', apt: 'redis-server', brew: 'redis' },
};

/** Thrown when the server is missing and cannot be installed without the user. The message says what to do. */
export class ServerMissingError extends Error {
  override name = 'ServerMissingError';
}

/**
 * Returns the path of the program for this server. Installs a missing program with the system's package manager if that needs no password
 * (apt-get as root or through `sudo -n`, or brew).
 * @throws ServerMissingError
 */
export async function ensureServer(
  kind: ServerKind,
  environment: Environment,
  say: (line: string) => void,
  furtherFolders?: string[],
): Promise<string> {
  const { title, apt, brew } = packages[kind];
  const installedBefore = await findServer(kind, environment['PATH'], furtherFolders);
  if (installedBefore) return installedBefore;

  const aptGet = await findAptCommand(environment);
  const steps = aptGet
    ? [
        [...aptGet, 'update', '-qq'],
        [...aptGet, 'install', '-y', '-qq', '--no-install-recommends', apt],
      ]
    : (await runCommand(['brew', '--version'], environment))
      ? [['brew', 'install', '--quiet', brew]]
      : [];
  for (const step of steps) {
    say(`${title} is not installed: running ${step.join(' ')}`);
    await runCommand(step, environment, say);
  }
  const installed = await findServer(kind, environment['PATH'], furtherFolders);
  if (installed) return installed;
  throw new ServerMissingError(
    `${title} is missing: install it (apt-get install ${apt}, or brew install ${brew}), or set ${kind.toUpperCase()}_URL to the address of a running server.`,
  );
}

async function findAptCommand(environment: Environment): Promise<string[] | undefined> {
  if (!(await runCommand(['apt-get', '--version'], environment))) return undefined;
  if (process.getuid?.() === 0) return ['apt-get'];
  return (await runCommand(['sudo', '-n', 'true'], environment)) ? ['sudo', '-n', 'apt-get'] : undefined;
}

/** Runs a command and returns whether it succeeded. Ends the command after ten minutes. If it fails, passes its error output to `say`. */
async function runCommand(
  [command = '', ...args]: readonly string[],
  environment: Environment,
  say?: (line: string) => void,
): Promise<boolean> {
  const child = spawn(command, args, {
    env: { ...environment, DEBIAN_FRONTEND: 'noninteractive' },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 600_000,
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-2_000)));
  try {
    const [code] = await once(child, 'close');
    if (code !== 0 && say && errors) say(errors.trim());
    return code === 0;
  } catch {
    return false;
  }
}
