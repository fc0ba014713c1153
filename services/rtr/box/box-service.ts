import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
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
 * Writes the file of the service and starts it, now and whenever this user's services start.
 * @returns sentences for the user
 * @throws BoxError `no_service` if the operating system has no service manager for users, or it refuses
 */
export async function installBoxService(place: ServicePlace, facts: BoxServiceFacts): Promise<string[]> {
  const file = requireServiceFile(place);
  mkdirSync(dirname(file), { recursive: true });
  replaceFile(file, place.platform === 'darwin' ? formatLaunchdAgent(facts) : formatSystemdUnit(facts));
  try {
    for (const [program, ...args] of listStartCommands(place, file)) await place.run(program, args);
  } catch (error) {
    rmSync(file, { force: true });
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
 * Stops the service and removes its file.
 * @returns whether there was one
 */
export async function removeBoxService(place: ServicePlace): Promise<boolean> {
  const file = findServiceFile(place);
  if (file === undefined || !existsSync(file)) return false;
  for (const [program, ...args] of listStopCommands(place)) {
    // A service that has never run or is stopped already is no reason to keep its file.
    await place.run(program, args).catch(() => {});
  }
  rmSync(file, { force: true });
  if (place.platform !== 'darwin') await place.run('systemctl', ['--user', 'daemon-reload']).catch(() => {});
  return true;
}

type ProgramCall = readonly [program: string, ...args: string[]];

function listStartCommands(place: ServicePlace, file: string): readonly ProgramCall[] {
  if (place.platform === 'darwin') return [['launchctl', 'bootstrap', `gui/${place.userId}`, file]];
  return [
    ['systemctl', '--user', 'daemon-reload'],
    ['systemctl', '--user', 'enable', unitName],
    // Starts a new version of a service that runs.
    ['systemctl', '--user', 'restart', unitName],
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
