import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { packageFile } from '#shared/core/installed-package.mjs';
import { packFolder } from '#shared/core/pack-folder.ts';
import { replaceFile } from '#shared/core/replace-file.ts';
import { stagePackage } from './stage-package.ts';

/**
 * Packs the package that npm installs into a file, see `stagePackage`.
 * @param root the project's folder, with built programs and pages
 * @returns a sentence that names the file, its size and the number of files in it
 */
export async function packPackage(root: string): Promise<string> {
  const folder = await stagePackage(root);
  const archive = await packFolder(folder);
  replaceFile(join(root, packageFile), archive, 0o644);
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const count = entries.filter((entry) => entry.isFile()).length;
  return `The package is in ${packageFile}: ${(archive.length / 1e6).toFixed(1)} MB, ${count} files.`;
}
