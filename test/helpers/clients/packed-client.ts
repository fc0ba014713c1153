import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hostNode, runCommand, type RunningCommand } from '../processes/run-command.ts';
import { until } from '../until.ts';
import type { Approver } from './device-flow.ts';

const run = promisify(execFile);
const source = join(import.meta.dirname, '../../../services/rtr/client');

/** The client package as it is installed from its tarball, in a folder of its own. */
export interface PackedClient {
  /** The program. */
  rtr: string;
  /** The folder that stands in for the home of a person: nothing else is read or written. */
  home: string;
  /** Runs it with the Node of this machine. */
  run: (words: readonly string[], environment?: Record<string, string>) => RunningCommand;
  /** Runs it to its end. @throws an Error for another exit code than 0 */
  print: (words: readonly string[]) => Promise<string>;
  /** Runs it to another end. @returns the exit code and what it says */
  fail: (words: readonly string[]) => Promise<[code: number | null, message: string]>;
  /** Begins to sign in, with the code that somebody has to approve. */
  begin: (url: string, environment?: Record<string, string>) => Promise<{ command: RunningCommand; code: string }>;
  /** Signs in, with somebody who approves it. */
  signIn: (url: string, approver: Approver, environment?: Record<string, string>) => Promise<RunningCommand>;
  /** The tokens that it keeps, and how to change them. */
  tokens: () => Record<string, unknown>;
  changeTokens: (change: Record<string, unknown>) => void;
  tokenPath: () => string;
  isSignedIn: () => boolean;
  remove: () => void;
}

export interface PackedClientOptions {
  /** The Node that runs it; that of this machine by default. */
  node?: string;
  /** Variables of every run. */
  environment?: Record<string, string>;
}

let installing: Promise<string> | undefined;

/** Packs the client and installs the tarball without the network, as a person does with the registry's. @returns the program */
async function install(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-client-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await run('npm', ['pack', source, '--pack-destination', folder], { cwd: folder });
  const manifest = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8')) as { name: string; version: string };
  const tarball = join(folder, `${manifest.name}-${manifest.version}.tgz`);
  writeFileSync(join(folder, 'package.json'), '{}');
  await run('npm', ['install', '--offline', '--no-fund', '--no-audit', tarball], { cwd: folder });
  return join(folder, 'node_modules/.bin/rtr');
}

/** A client that is installed, once for all test files of this process, with a home of its own. */
export async function installPackedClient(options: PackedClientOptions = {}): Promise<PackedClient> {
  const { node = hostNode(), environment: always = {} } = options;
  installing ??= install();
  const rtr = await installing;
  const home = mkdtempSync(join(tmpdir(), 'rtr-home-'));
  const config = join(home, 'config');
  const tokenFile = async (): Promise<string> => {
    const { stdout } = await run('find', [config, '-name', '*.tokens.json']);
    return stdout.trim();
  };
  let path = '';
  const client: PackedClient = {
    rtr,
    home,
    run: (words, environment = {}) =>
      runCommand(node, [rtr, ...words], {
        cwd: home,
        env: { HOME: home, XDG_CONFIG_HOME: config, CLAUDE_CONFIG_DIR: '', CODEX_HOME: '', ...always, ...environment },
      }),
    print: async (words) => {
      const command = client.run(words);
      const code = await command.ended;
      if (code !== 0) throw new Error(`rtr ${words.join(' ')} ended with ${code}: ${command.err}`);
      return command.out;
    },
    fail: async (words) => {
      const command = client.run(words);
      const code = await command.ended;
      if (code === 0 || command.out !== '')
        throw new Error(`rtr ${words.join(' ')} ended with ${code}: ${command.out}`);
      return [code, command.err];
    },
    begin: async (url, environment) => {
      const command = client.run(['login', url], environment);
      await until(() => /^ {2}[A-Z]{4}-[A-Z]{4}$/m.test(command.out));
      const [code = ''] = /[A-Z]{4}-[A-Z]{4}$/m.exec(command.out) ?? [];
      return { command, code };
    },
    signIn: async (url, approver, environment) => {
      const { command, code } = await client.begin(url, environment);
      await approver.post(`/devices/${code}`, { decision: 'approve' });
      if ((await command.ended) !== 0) throw new Error(`rtr login failed: ${command.err}`);
      path = await tokenFile();
      return command;
    },
    tokens: () => JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>,
    changeTokens: (change) => writeFileSync(path, JSON.stringify({ ...client.tokens(), ...change })),
    tokenPath: () => path,
    isSignedIn: () => path !== '' && existsSync(path),
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
  return client;
}
