import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {{ version?: string, integrity?: string, dev?: boolean, optional?: boolean, devOptional?: boolean }} Locked
 * @typedef {'all' | 'run' | 'run-with-node'} Purpose what the packages are for: everything including the checks; running
 *   the services; running the services with the Node that comes as a package
 */

/**
 * Names of the packages that `node_modules` lacks or has in another version than the lock file says. npm writes its own
 * record of what it installed (`node_modules/.package-lock.json`) as the last step, so after an installation that was
 * broken off there is none, and all packages count as missing.
 * @param {string} root folder of the project
 * @param {Purpose} purpose
 * @returns {string[]}
 */
export function missingDependencies(root, purpose) {
  const wanted = readPackages(join(root, 'package-lock.json'));
  if (!wanted) throw new Error(`package-lock.json is missing in ${root}`);
  const installed = readPackages(join(root, 'node_modules', '.package-lock.json')) ?? {};
  return Object.entries(wanted)
    .filter(([path, locked]) => path !== '' && isNeeded(path, locked, purpose))
    .filter(([path, { version, integrity }]) => {
      const there = installed[path];
      return !there || there.version !== version || there.integrity !== integrity;
    })
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length));
}

/**
 * Optional packages are for other systems, or did not build here; npm knows, we do not ask.
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
