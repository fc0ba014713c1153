import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The real command-line agents that tests drive, by package, pinned. They are too big to be dependencies. */
const clis = {
  claude: { package: '@anthropic-ai/claude-code', version: '2.1.332', bin: 'claude' },
  codex: { package: '@openai/codex', version: '0.171.0', bin: 'codex' },
  gemini: { package: '@google/gemini-cli', version: '0.61.0', bin: 'gemini' },
  opencode: { package: 'opencode-ai', version: '1.18.33', bin: 'opencode' },
};

export type CliName = keyof typeof clis;
export const cliNames = Object.keys(clis) as CliName[];

/** One installation serves every copy of the project. */
const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'model-router', 'clis');

/** The path of the command of an installed agent; undefined where it is not installed. */
export function findCli(name: CliName): string | undefined {
  const command = join(homeOf(name), 'node_modules/.bin', clis[name].bin);
  return existsSync(command) ? command : undefined;
}

/** Installs the agents that are missing, all at once. Says which of them cannot be had: their tests are skipped. */
export async function installClis(): Promise<void> {
  await Promise.all(cliNames.filter((name) => findCli(name) === undefined).map(install));
}

async function install(name: CliName): Promise<void> {
  const wanted = `${clis[name].package}@${clis[name].version}`;
  const home = homeOf(name);
  const unfinished = `${home}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    const args = ['install', '--prefix', unfinished, '--no-fund', '--no-audit', wanted];
    await promisify(execFile)('npm', args, { timeout: 300_000 });
    rmSync(home, { recursive: true, force: true });
    renameSync(unfinished, home);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    console.warn(`${wanted} could not be installed, so its tests are skipped: ${String(error)}`);
  }
}

function homeOf(name: CliName): string {
  return join(folder, `${name}-${clis[name].version}`);
}
