import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { isInstalledPackage } from '#shared/core/installed-package.mjs';
import { arePagesBuilt } from './pages-stamp.ts';

/** Milliseconds after which a build is stopped. A slow machine needs less. */
const buildMs = 120_000;

/**
 * Builds the console's pages unless they are up to date, as they always are in an installed package. The build runs in a process of its own,
 * which ends when the signal aborts.
 * @returns undefined, or a sentence that says why the pages are not built
 */
export async function ensurePages(root: string, signal: AbortSignal): Promise<string | undefined> {
  if (isInstalledPackage(root) || arePagesBuilt(root)) return undefined;
  const child = spawn(process.execPath, [join(root, 'services', 'console', 'main.ts')], {
    stdio: ['ignore', 'ignore', 'pipe'],
    signal: AbortSignal.any([signal, AbortSignal.timeout(buildMs)]),
  });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-2_000);
  });
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    if (code === 0) return undefined;
  } catch (error) {
    if (signal.aborted) return undefined;
    output = String(error);
  }
  const reason = output.trim().split('\n').at(0) ?? '';
  return `The console could not be built (${reason}); the API works without it. To try again: npm run build`;
}
