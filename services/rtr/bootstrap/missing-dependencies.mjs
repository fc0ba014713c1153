import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {{ version?: string, integrity?: string, dev?: boolean, optional?: boolean, devOptional?: boolean }} Locked
 * @typedef {'all' | 'run' | 'run-with-node'} Purpose what the packages are needed for. `all`: the services and the checks. `run`: the
 * services. `run-with-node`: the services and the packaged Node
 */

/**
 * Returns the folders of the packages that are missing from `node_modules` or differ from the lock file in version or integrity, such as
 * `node_modules/zod`. npm writes its record of installed packages (`node_modules/.package-lock.json`) last. After an interrupted
 * installation that record does not exist, so all packages count as missing.
 * @param {string} root folder of the project
 * @param {Purpose} purpose
 * @returns {string[]}
 */
export function findMissingDependencies(root, purpose) {
  const lockedPackages = readPackages(join(root, 'package-lock.json'));
  if (!lockedPackages) throw new Error(`package-lock.json is missing in ${root}`);
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json')) ?? {};
  return Object.entries(lockedPackages)
    .filter(([path, locked]) => path !== '' && isNeeded(path, locked, purpose))
    .filter(([path, { version, integrity }]) => {
      const installedPackage = installed[path];
      if (!installedPackage || installedPackage.version !== version) return true;
      return installedPackage.integrity !== integrity || !isUnpacked(root, path);
    })
    .map(([path]) => path);
}

/**
 * Whether the folder of a package has its description.
 * @param {string} root folder of the project
 * @param {string} path folder of the package, such as `node_modules/zod`
 */
export function isUnpacked(root, path) {
  return existsSync(join(root, path, 'package.json'));
}

/**
 * Whether a purpose needs a package. Optional packages are never needed, because npm skips optional packages that are for other systems or
 * fail to build.
 * @param {string} path
 * @param {Locked} locked
 * @param {Purpose} purpose
 */
function isNeeded(path, { dev, optional, devOptional }, purpose) {
  if (optional || devOptional) return false;
  return !dev || purpose === 'all' || (purpose === 'run-with-node' && path === 'node_modules/node');
}

/**
 * @param {string} file
 * @returns {Record<string, Locked> | undefined}
 */
function readPackages(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch {
    return undefined;
  }
}
