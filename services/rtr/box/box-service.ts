import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { replaceFile } from '#shared/core/replace-file.ts';
import { findOwnCommand } from '../client/lib/own-command.mjs';
import { BoxError } from './box-error.ts';
import { agentLabel, formatLaunchdAgent, formatSystemdUnit, unitName, type BoxServiceFacts } from './service-file.ts';

/** Runs a program. Rejects if it fails. */
export type RunProgram = (program: string, args: readonly string[]) => Promise<unknown>;

export interface ServicePlace {
  /** `process.platform`. */
  platform: string;
  home: string;
  /** Number of the user, for launchd. */
  userId: number;
  run: RunProgram;
}

/** Milliseconds for one command of the service manager. Stopping waits for running answers. */
const commandTimeoutMs = 60_000;

export const runProgram: RunProgram = (program, args) =>
  promisify(execFile)(program, args, { timeout: commandTimeoutMs });

/**
 * Writes the file of the service and starts it, now and whenever this user's services start. If it cannot be started, an earlier file is
 * there again, or none.
 * @returns sentences for the user
 * @throws BoxError `no_service` if the operating system has no service manager for users, or it refuses
 */
export async function installBoxService(place: ServicePlace, facts: BoxServiceFacts): Promise<string[]> {
  const file = requireServiceFile(place);
  const earlier = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  mkdirSync(dirname(file), { recursive: true });
  replaceFile(file, place.platform === 'darwin' ? formatLaunchdAgent(facts) : formatSystemdUnit(facts));
  try {
    await runAll(place, listStartCommands(place, file));
  } catch (error) {
    if (earlier === undefined) await removeBoxService(place);
    else replaceFile(file, earlier);
    const reason = error instanceof Error ? error.message.trim() : String(error);
    throw new BoxError(
      'no_service',
      `The box has joined, but no service could be started (${reason}): run \`${findOwnCommand()} join\` without arguments under a service manager of your own.`,
      { cause: error },
    );
  }
  const status = place.platform === 'darwin' ? `tail -f ${facts.logFile}` : `journalctl --user -fu ${unitName}`;
  return [
    `The service is started: ${file}. Its log: ${status}`,
    ...(place.platform === 'darwin'
      ? []
      : ['It runs while you are signed in. To let it run from the start of the machine: loginctl enable-linger']),
  ];
}

/**
 * Stops the service, so that another version or membership can take its place.
 * @returns a function that starts it again as it was, undefined if there is no service
 */
export async function pauseBoxService(place: ServicePlace): Promise<(() => Promise<void>) | undefined> {
  const file = findServiceFile(place);
  if (file === undefined || !existsSync(file)) return undefined;
  await stopService(place);
  return () => runAll(place, listStartCommands(place, file));
}

/**
 * Stops the service and removes its file.
 * @returns whether there was one
 */
export async function removeBoxService(place: ServicePlace): Promise<boolean> {
  const file = findServiceFile(place);
  if (file === undefined || !existsSync(file)) return false;
  await stopService(place);
  rmSync(file, { force: true });
  if (place.platform !== 'darwin') await place.run('systemctl', ['--user', 'daemon-reload']).catch(() => {});
  return true;
}

/** Stops the service, which then also does not start with the machine. One that has never run or is stopped already stays so. */
async function stopService(place: ServicePlace): Promise<void> {
  await runAll(place, listStopCommands(place)).catch(() => {});
}

async function runAll({ run }: ServicePlace, calls: readonly ProgramCall[]): Promise<void> {
  for (const [program, ...args] of calls) await run(program, args);
}

type ProgramCall = readonly [program: string, ...args: string[]];

function listStartCommands(place: ServicePlace, file: string): readonly ProgramCall[] {
  if (place.platform === 'darwin') return [['launchctl', 'bootstrap', `gui/${place.userId}`, file]];
  return [
    ['systemctl', '--user', 'daemon-reload'],
    ['systemctl', '--user', 'enable', unitName],
    ['systemctl', '--user', 'start', unitName],
  ];
}

function listStopCommands({ platform, userId }: ServicePlace): readonly ProgramCall[] {
  return platform === 'darwin'
    ? [['launchctl', 'bootout', `gui/${userId}/${agentLabel}`]]
    : [['systemctl', '--user', 'disable', '--now', unitName]];
}

function requireServiceFile(place: ServicePlace): string {
  const file = findServiceFile(place);
  if (file !== undefined) return file;
  throw new BoxError(
    'no_service',
    `The box has joined, but --install knows only systemd and launchd: run \`${findOwnCommand()} join\` without arguments under a service manager of your own.`,
  );
}

function findServiceFile({ platform, home }: ServicePlace): string | undefined {
  if (platform === 'darwin') return join(home, 'Library', 'LaunchAgents', `${agentLabel}.plist`);
  return platform === 'linux' ? join(home, '.config', 'systemd', 'user', unitName) : undefined;
}
