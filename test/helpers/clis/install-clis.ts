import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
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

const folder = join(import.meta.dirname, '../../../.rtr/clis');

/**
 * Installs a command-line agent into `.rtr/clis`, once, and returns the path of its command.
 * Undefined, with a line that says so, where it cannot be had: its tests are then skipped.
 */
export async function installCli(name: CliName): Promise<string | undefined> {
  const { package: packageName, version, bin } = clis[name];
  const home = join(folder, `${name}-${version}`);
  const command = join(home, 'node_modules/.bin', bin);
  if (existsSync(command)) return command;
  const unfinished = `${home}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  try {
    const wanted = `${packageName}@${version}`;
    await promisify(execFile)('npm', ['install', '--prefix', unfinished, '--no-fund', '--no-audit', wanted], {
      timeout: 300_000,
    });
    rmSync(home, { recursive: true, force: true });
    renameSync(unfinished, home);
    return command;
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    console.warn(`${packageName} could not be installed, so its tests are skipped: ${String(error)}`);
    return undefined;
  }
}
