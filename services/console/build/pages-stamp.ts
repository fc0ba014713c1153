import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the pages' sources, below the project's. */
export const pagesSource = join('services', 'console', 'web');

/** The folder of the built pages, below the project's. */
export const pagesFolder = join(pagesSource, 'dist');

/** The file among the built pages that contains the digest of their sources. */
export const stampFile = 'stamp';

/** The folders of the sources, of what they import, and of the build. */
const sources = [pagesSource, join('services', 'console', 'contract'), join('services', 'console', 'build'), 'shared'];

/** Returns a digest of everything that a build depends on: the pages' sources, what they import, and the versions of all packages. */
export function pagesStamp(root: string): string {
  const digest = createHash('sha256');
  for (const folder of sources) {
    const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:tsx?|css|html|svg)$/.test(file) && !/^(?:dist|\.dist)/.test(file))
      .sort();
    for (const file of files) digest.update(`\n${file}\n`).update(readFileSync(join(root, folder, file)));
  }
  return digest.update(readFileSync(join(root, 'package-lock.json'))).digest('hex');
}

export function pagesAreBuilt(root: string): boolean {
  try {
    return readFileSync(join(root, pagesFolder, stampFile), 'utf8') === pagesStamp(root);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
