import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isBuilt } from '#shared/core/built-folder.ts';

/** The folder of the pages' sources, relative to the project's folder. */
export const pagesSource = join('services', 'console', 'web');

/** The folder of the built pages, relative to the project's folder. */
export const pagesFolder = join(pagesSource, 'dist');

/** The folder of the built documentation, relative to the project's folder. */
export const docsFolder = join('docs', 'site', 'dist');

/** The folders with the pages' sources, the files that they import, and the build. */
const sources = [pagesSource, join('services', 'console', 'contract'), join('services', 'console', 'build'), 'shared'];

/** Computes a digest of everything that a build depends on: the pages' sources, their imports, and the versions of all packages. */
export function computePagesStamp(root: string): string {
  const digest = createHash('sha256');
  for (const folder of sources) {
    const files = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(?:tsx?|css|html|svg)$/.test(file) && !file.startsWith('dist'))
      .sort();
    for (const file of files) digest.update(`\n${file}\n`).update(readFileSync(join(root, folder, file)));
  }
  return digest.update(readFileSync(join(root, 'package-lock.json'))).digest('hex');
}

export function arePagesBuilt(root: string): boolean {
  return isBuilt(join(root, pagesFolder), computePagesStamp(root));
}
