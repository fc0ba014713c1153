import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** One installation serves every copy of the project. */
const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'model-router');

/** Milliseconds for one step of an installation. */
const timeout = 600_000;

/** Installations at once. */
const atOnce = 3;

/** One command and its arguments, run in the folder of the installation. */
export type InstallStep = readonly [command: string, ...args: string[]];

const begun = new Map<string, Promise<string>>();
const lanes = Array.from({ length: atOnce }, () => Promise.resolve());
let next = 0;

/**
 * Returns the folder of an installation in the cache, whether or not it exists.
 * @param name name of the folder, with the version
 */
export function installedIn(name: string): string {
  return join(cache, name);
}

/**
 * Installs something into a folder of its own in the cache, once for all copies of the project, a few at a time.
 * @param name name of the folder, with the version
 * @param steps run in a temporary folder, which is moved when it is complete
 * @param files files to write into the folder before, by name
 * @returns the folder
 * @throws Error with the last output line of the failed step
 */
export function installOnce(
  name: string,
  steps: readonly InstallStep[],
  files: Record<string, string> = {},
): Promise<string> {
  const home = installedIn(name);
  if (existsSync(home)) return Promise.resolve(home);
  const lane = next++ % atOnce;
  const installing = begun.get(name) ?? (lanes[lane] ?? Promise.resolve()).then(() => install(home, steps, files));
  begun.set(name, installing);
  lanes[lane] = installing.then(
    () => undefined,
    () => undefined,
  );
  return installing;
}

async function install(home: string, steps: readonly InstallStep[], files: Record<string, string>): Promise<string> {
  const unfinished = `${home}.${process.pid}`;
  mkdirSync(unfinished, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(unfinished, file), text);
  try {
    for (const [command, ...args] of steps)
      await promisify(execFile)(command, args, { cwd: unfinished, timeout, maxBuffer: 64 * 1024 ** 2 });
    // Another copy of the project may have been faster.
    if (!existsSync(home)) renameSync(unfinished, home);
    return home;
  } catch (error) {
    const { stderr } = error as { stderr?: string };
    throw new Error(stderr?.trim().split('\n').at(-1) || String(error), { cause: error });
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}
