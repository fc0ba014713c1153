import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isInstalledPackage, packageFile } from '#shared/core/installed-package.mjs';
import { packFolder } from '#shared/core/pack-folder.ts';

/** Milliseconds after which a build is stopped. A slow machine needs less. */
const buildMs = 120_000;

/**
 * Returns the package from which this router's programs run, packed as npm installs it. A checkout builds its package first, which takes
 * seconds; an installed one is packed from its own folder.
 * @param root the project's folder
 * @throws Error if a checkout cannot be built
 */
export async function readOwnPackage(root: string): Promise<Buffer> {
  if (isInstalledPackage(root)) return packFolder(root);
  const build = spawn(process.execPath, [join(root, 'services', 'rtr', 'main.ts'), 'build', '--package'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    signal: AbortSignal.timeout(buildMs),
  });
  let errors = '';
  build.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-2_000)));
  const [code] = (await once(build, 'close')) as [number | null];
  if (code !== 0) throw new Error(`the package could not be built: ${errors.trim()}`);
  return readFile(join(root, packageFile));
}
