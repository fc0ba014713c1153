import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Client } from './client.ts';

const run = promisify(execFile);
const cache = join(import.meta.dirname, '../../.rtr/cache/clients');

/** Milliseconds for one client with all its dependencies. */
const timeout = 420_000;

/**
 * Installs a client's packages into a folder of their own under `.rtr/cache/clients`, once.
 * @returns the folder
 * @throws Error with what the package manager said
 */
export async function installClient({ from }: Client): Promise<string> {
  const packages = Object.entries(from.packages).flat().join('-');
  const home = join(cache, `${from.registry}-${packages.replaceAll(/[^\w.-]+/g, '')}`.toLowerCase());
  const complete = join(home, '.complete');
  if (existsSync(complete)) return home;
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  try {
    // A virtual environment contains its own path, so it is made where it stays.
    if (from.registry === 'npm') await installFromNpm(home, from.packages);
    else await installFromPyPi(home, from.packages);
  } catch (error) {
    rmSync(home, { recursive: true, force: true });
    throw new Error(lastLineOf(error), { cause: error });
  }
  mkdirSync(`${complete}.${process.pid}`);
  renameSync(`${complete}.${process.pid}`, complete);
  return home;
}

async function installFromNpm(home: string, packages: Client['from']['packages']): Promise<void> {
  const wanted = Object.entries(packages).map(([name, version]) => `${name}@${version}`);
  await run('npm', ['install', '--prefix', home, '--no-fund', '--no-audit', '--save-exact', ...wanted], { timeout });
}

async function installFromPyPi(home: string, packages: Client['from']['packages']): Promise<void> {
  const wanted = Object.entries(packages).map(([name, version]) => `${name}==${version}`);
  await run('python3', ['-m', 'venv', home], { timeout });
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-compile', '--disable-pip-version-check'];
  await run(join(home, 'bin/python'), [...pip, ...wanted], { timeout });
}

/** The last line that the package manager wrote to its error output, which names the reason. */
function lastLineOf(error: unknown): string {
  const { stderr } = error as { stderr?: string };
  return stderr?.trim().split('\n').at(-1) ?? String(error);
}
