import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Where the pages' sources are, from the project's folder. */
export const pagesSource = join('services', 'console', 'web');

/** Where the built pages are, from the project's folder. */
export const pagesFolder = join(pagesSource, 'dist');

/** The file among the built pages that says what they were built from. */
export const stampFile = 'stamp';

/** What the pages would be built from now: a digest of all their sources and of the versions of all packages. */
export function pagesStamp(root: string): string {
  const digest = createHash('sha256');
  for (const folder of [pagesSource, join('services', 'console', 'build')]) {
    const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:tsx?|css|html|svg)$/.test(file) && !/^(?:dist|\.dist)/.test(file))
      .sort();
    for (const file of files) digest.update(`\n${file}\n`).update(readFileSync(join(root, folder, file)));
  }
  return digest.update(readFileSync(join(root, 'package-lock.json'))).digest('hex');
}

/** Whether the built pages are those of the sources as they are now. */
export function pagesAreBuilt(root: string): boolean {
  try {
    return readFileSync(join(root, pagesFolder, stampFile), 'utf8') === pagesStamp(root);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
