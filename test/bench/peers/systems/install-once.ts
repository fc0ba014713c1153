import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const cache = join(import.meta.dirname, '../../../../.rtr/cache/peers');

/** Milliseconds for one step of an installation. */
const timeout = 600_000;

/** One command and its arguments, run in the folder of the installation. */
export type InstallStep = readonly [command: string, ...args: string[]];

/**
 * Installs something into a folder of its own under `.rtr/cache/peers`, once.
 * @param name of the folder, with the version
 * @param files to write into the folder before, by name
 * @returns the folder
 * @throws Error with the last line that the failed step wrote
 */
export async function installOnce(
  name: string,
  steps: readonly InstallStep[],
  files: Record<string, string> = {},
): Promise<string> {
  const home = join(cache, name);
  const complete = join(home, '.complete');
  if (existsSync(complete)) return home;
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  process.stderr.write(`installing ${name} …\n`);
  for (const [file, text] of Object.entries(files)) writeFileSync(join(home, file), text);
  for (const [command, ...args] of steps) {
    try {
      await run(command, args, { cwd: home, timeout, maxBuffer: 64 * 1024 ** 2 });
    } catch (error) {
      const { stderr } = error as { stderr?: string };
      throw new Error(stderr?.trim().split('\n').at(-1) || String(error), { cause: error });
    }
  }
  writeFileSync(complete, '');
  return home;
}
