import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Environment } from '#shared/core/load-config.ts';
import { findServer, type ServerKind } from './find-server.ts';

interface Packages {
  title: string;
  apt: string;
  brew: string;
  /** Where Fedora gets the server from. */
  fedora: string;
}

const packages: Record<ServerKind, Packages> = {
  nats: {
    title: 'NATS',
    apt: 'nats-server',
    brew: 'nats-server',
    fedora: 'the package of https://github.com/nats-io/nats-server/releases',
  },
  redis: { title: 'Redis', apt: 'redis-server', brew: 'redis', fedora: 'sudo dnf install valkey' },
};

/** Thrown when the server is missing and cannot be installed without the user. The message says what to do. */
export class ServerMissingError extends Error {
  override name = 'ServerMissingError';
}

/**
 * Returns the paths of the programs for these servers. Installs missing programs with the system's package manager if that needs no password
 * (apt-get as root or through `sudo -n`, or brew), one after the other, because two runs of it would lock each other out.
 * @throws ServerMissingError that names all missing servers
 */
export async function ensureServers<Kind extends ServerKind>(
  kinds: readonly Kind[],
  environment: Environment,
  say: (line: string) => void,
  furtherFolders?: string[],
): Promise<Record<Kind, string>> {
  const programs: Partial<Record<Kind, string>> = {};
  for (const kind of kinds) {
    const program = await ensureServer(kind, environment, say, furtherFolders);
    if (program !== undefined) programs[kind] = program;
  }
  const missing = kinds.filter((kind) => programs[kind] === undefined);
  if (missing.length > 0) throw new ServerMissingError(describeMissing(missing));
  return programs as Record<Kind, string>;
}

async function ensureServer(
  kind: ServerKind,
  environment: Environment,
  say: (line: string) => void,
  furtherFolders?: string[],
): Promise<string | undefined> {
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
  return findServer(kind, environment['PATH'], furtherFolders);
}

function describeMissing(kinds: readonly ServerKind[]): string {
  const list = (select: (kind: ServerKind) => string, separator: string): string => kinds.map(select).join(separator);
  const [verb, object] = kinds.length === 1 ? ['is', 'it'] : ['are', 'them'];
  return [
    `${list((kind) => packages[kind].title, ' and ')} ${verb} missing. Install ${object}:`,
    `  Debian, Ubuntu, WSL  sudo apt-get install ${list((kind) => packages[kind].apt, ' ')}`,
    `  Fedora               ${list((kind) => packages[kind].fedora, ', and ')}`,
    `  macOS                brew install ${list((kind) => packages[kind].brew, ' ')}`,
    `Or set ${list((kind) => `${kind.toUpperCase()}_URL`, ' and ')} to the address of a running server.`,
  ].join('\n');
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
