import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../until.ts';

const programs = ['dbus-daemon', 'gnome-keyring-daemon', 'secret-tool'];

/** Whether this machine has the programs for a keyring. `get-keyring.sh` installs them. */
export const hasKeyring = programs.every((program) => spawnSync(program, ['--help']).error === undefined);

/** Starts a bus and an unlocked keyring on it. */
export async function startKeyring() {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-keyring-'));
  const address = `unix:path=${join(folder, 'bus')}`;
  const busConfig = join(folder, 'bus.conf');
  writeFileSync(busConfig, busConfigWith(address));
  const base = { HOME: folder, XDG_RUNTIME_DIR: folder, PATH: process.env['PATH'] ?? '' };
  const env = { ...base, DBUS_SESSION_BUS_ADDRESS: address };
  const bus = spawn('dbus-daemon', [`--config-file=${busConfig}`, '--nofork', '--print-address'], {
    env: base,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(bus.stdout, 'data');
  const daemon = spawn('gnome-keyring-daemon', ['--unlock', '--components=secrets', '--foreground'], {
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  daemon.stdin.end('a password');
  const lookUp = (): string =>
    spawnSync('secret-tool', ['search', '--all', 'service', 'rtr'], { env, encoding: 'utf8' }).stdout;
  await until(() => spawnSync('secret-tool', ['search', 'service', 'none'], { env }).status === 0);
  const stop = async (): Promise<void> => {
    await endOf(daemon);
    await endOf(bus);
    rmSync(folder, { recursive: true, force: true });
  };
  return {
    /** Variables of a program that uses the keyring. */
    environment: { DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: folder },
    /** Returns all secrets of the client, as they were stored. */
    secrets: () => [...lookUp().matchAll(/^secret = (.*)$/gm)].map(([, secret = '']) => secret),
    /** Replaces the secret of a router. */
    replace: (router: string, secret: string) => {
      const words = ['store', '--label=Model Router', 'service', 'rtr', 'account', router];
      spawnSync('secret-tool', words, { env, input: secret });
    },
    /** Locks the keyring, as a desktop does. A program that needs it would wait for a person. */
    lock: () => void spawnSync('secret-tool', ['lock'], { env }),
    /** Ends the keyring while its bus goes on. */
    end: () => endOf(daemon),
    stop,
  };
}

/** A keyring like that of a person's desktop, with a message bus of its own. */
export type TestKeyring = Awaited<ReturnType<typeof startKeyring>>;

/**
 * Returns a configuration without activation: otherwise the bus would start a locked keyring of its own for the first program that needs
 * one.
 */
function busConfigWith(address: string): string {
  const allow = ['own="*"', 'send_destination="*"', 'receive_sender="*"'].map((what) => `<allow ${what}/>`).join('');
  const policy = `<policy context="default">${allow}</policy>`;
  return `<busconfig><type>session</type><listen>${address}</listen>${policy}</busconfig>`;
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}
