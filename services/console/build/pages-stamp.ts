import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isBuilt } from '#shared/core/built-folder.ts';

/** The folder of the pages' sources, below the project's. */
export const pagesSource = join('services', 'console', 'web');

/** The folder of the built pages, below the project's. */
export const pagesFolder = join(pagesSource, 'dist');

/** The folders of the sources, of what they import, and of the build. */
const sources = [pagesSource, join('services', 'console', 'contract'), join('services', 'console', 'build'), 'shared'];

/** Returns a digest of everything that a build depends on: the pages' sources, what they import, and the versions of all packages. */
export function pagesStamp(root: string): string {
  const digest = createHash('sha256');
  for (const folder of sources) {
    const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:tsx?|css|html|svg)$/.test(file) && !file.startsWith('dist'))
      .sort();
    for (const file of files) digest.update(`\n${file}\n`).update(readFileSync(join(root, folder, file)));
  }
  return digest.update(readFileSync(join(root, 'package-lock.json'))).digest('hex');
}

export function pagesAreBuilt(root: string): boolean {
  return isBuilt(join(root, pagesFolder), pagesStamp(root));
}
