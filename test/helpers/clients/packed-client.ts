import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hostNode, runCommand, type RunningCommand } from '../processes/run-command.ts';
import { until } from '../until.ts';
import type { Approver } from './device-flow.ts';

const exec = promisify(execFile);
const source = join(import.meta.dirname, '../../../services/rtr/client');

export interface PackedClientOptions {
  /** The Node that runs it; that of this machine by default. */
  node?: string;
  /** Variables of every run. */
  environment?: Record<string, string>;
}

let installing: Promise<string> | undefined;

/**
 * Packs the client and installs the tarball without the network, as a person does with the registry's.
 * @returns the program
 */
async function install(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-client-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await exec('npm', ['pack', source, '--pack-destination', folder], { cwd: folder });
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { name: string; version: string };
  const tarball = join(folder, `${manifest.name}-${manifest.version}.tgz`);
  writeFileSync(join(folder, 'package.json'), '{}');
  await exec('npm', ['install', '--offline', '--no-fund', '--no-audit', tarball], { cwd: folder });
  return join(folder, 'node_modules/.bin/rtr');
}

/** Installs a client, once for all test files of this process, with a home of its own. */
export async function installPackedClient(options: PackedClientOptions = {}) {
  const { node = hostNode(), environment: always = {} } = options;
  installing ??= install();
  const rtr = await installing;
  const home = mkdtempSync(join(tmpdir(), 'rtr-home-'));
  const config = join(home, 'config');
  const own = { HOME: home, XDG_CONFIG_HOME: config, CLAUDE_CONFIG_DIR: '', CODEX_HOME: '', ...always };
  let path = '';
  /** Runs it with this machine's Node. */
  const run = (words: readonly string[], environment: Record<string, string> = {}): RunningCommand =>
    runCommand(node, [rtr, ...words], { cwd: home, env: { ...own, ...environment } });
  /** Begins a sign-in and returns the code that a person has to approve. */
  const begin = async (url: string, environment?: Record<string, string>) => {
    const command = run(['login', url], environment);
    await until(() => /^ {2}[A-Z]{4}-[A-Z]{4}$/m.test(command.out));
    const [code = ''] = /[A-Z]{4}-[A-Z]{4}$/m.exec(command.out) ?? [];
    return { command, code };
  };
  /** Returns the tokens that it keeps. */
  const tokens = () => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
  return {
    rtr,
    /** Folder that stands in for a person's home: nothing else is read or written. */
    home,
    run,
    /**
     * Runs it to its end.
     * @throws an Error for an exit code other than 0
     */
    print: async (words: readonly string[]): Promise<string> => {
      const command = run(words);
      const code = await command.ended;
      if (code !== 0) throw new Error(`rtr ${words.join(' ')} ended with ${code}: ${command.err}`);
      return command.out;
    },
    /**
     * Runs it to a failure.
     * @returns the exit code and the message
     */
    fail: async (words: readonly string[]): Promise<[code: number | null, message: string]> => {
      const command = run(words);
      const code = await command.ended;
      if (code === 0 || command.out !== '')
        throw new Error(`rtr ${words.join(' ')} ended with ${code}: ${command.out}`);
      return [code, command.err];
    },
    begin,
    /** Signs in, with a person who approves it. */
    signIn: async (url: string, approver: Approver, environment?: Record<string, string>): Promise<RunningCommand> => {
      const { command, code } = await begin(url, environment);
      await approver.post(`/devices/${code}`, { decision: 'approve' });
      if ((await command.ended) !== 0) throw new Error(`rtr login failed: ${command.err}`);
      path = (await exec('find', [config, '-name', '*.tokens.json'])).stdout.trim();
      return command;
    },
    tokens,
    changeTokens: (change: Record<string, unknown>) => writeFileSync(path, JSON.stringify({ ...tokens(), ...change })),
    tokenPath: () => path,
    isSignedIn: () => path !== '' && existsSync(path),
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** The client package as it is installed from its tarball, in a folder of its own. */
export type PackedClient = Awaited<ReturnType<typeof installPackedClient>>;
