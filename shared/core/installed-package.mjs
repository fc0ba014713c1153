import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The file of a checkout's own package, relative to the project's folder. */
export const packageFile = 'dist-package.tgz';

/**
 * Whether the project's folder is an installed package or an image, and not a checkout. Only a checkout has a lock file, because npm never
 * packs one. A package contains built programs and pages, and cannot build them.
 * @param {string} root folder of the project
 */
export function isInstalledPackage(root) {
  return !existsSync(join(root, 'package-lock.json'));
}
