import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { installedIn, installOnce } from '../processes/install-once.ts';

/** The real command-line agents of the tests, by package, pinned. They are too big to be dependencies. */
const clis = {
  claude: { package: '@anthropic-ai/claude-code', version: '2.1.332', bin: 'claude' },
  codex: { package: '@openai/codex', version: '0.171.0', bin: 'codex' },
  gemini: { package: '@google/gemini-cli', version: '0.61.0', bin: 'gemini' },
  opencode: { package: 'opencode-ai', version: '1.18.33', bin: 'opencode' },
};

export type CliName = keyof typeof clis;
export const cliNames = Object.keys(clis) as CliName[];

/** Returns the path of the command of an installed agent; undefined where it is not installed. */
export function findCli(name: CliName): string | undefined {
  const command = join(installedIn(folderOf(name)), 'node_modules/.bin', clis[name].bin);
  return existsSync(command) ? command : undefined;
}

/** Returns the package of an agent, with its version. */
export function cliPackage(name: CliName): Record<string, string> {
  return { [clis[name].package]: clis[name].version };
}

/**
 * Installs a missing agent.
 * @returns the folder with its `node_modules`
 */
export function installCli(name: CliName): Promise<string> {
  const wanted = `${clis[name].package}@${clis[name].version}`;
  return installOnce(folderOf(name), [['npm', 'install', '--prefix', '.', '--no-fund', '--no-audit', wanted]]);
}

/** Installs the missing agents. Reports agents that cannot be installed: their tests are skipped. */
export async function installClis(): Promise<void> {
  const missing = cliNames.filter((name) => findCli(name) === undefined);
  const installed = await Promise.allSettled(missing.map(installCli));
  for (const [at, result] of installed.entries())
    if (result.status === 'rejected')
      console.warn(`${missing[at]} could not be installed, so its tests are skipped: ${String(result.reason)}`);
}

function folderOf(name: CliName): string {
  return `clis/${name}-${clis[name].version}`;
}
