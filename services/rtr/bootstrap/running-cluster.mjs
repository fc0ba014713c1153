import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { lockHolder } from '../../../shared/core/take-lock.mjs';

/** @param {string} root folder of the project */
const locksFolder = (root) => join(root, '.rtr', 'clusters');

/**
 * Returns the path of the lock that a cluster holds while it runs on the packages of a checkout. Each data folder has one, so that several
 * clusters may run on the same packages.
 * @param {string} root folder of the project
 * @param {string} folder the cluster's data folder
 */
export function packagesLock(root, folder) {
  return join(locksFolder(root), createHash('sha256').update(folder).digest('hex').slice(0, 16));
}

/**
 * Returns the id of a process that runs a cluster on the packages of a checkout; undefined if there is none.
 * @param {string} root folder of the project
 * @returns {number | undefined}
 */
export function findRunningCluster(root) {
  const folder = locksFolder(root);
  const locks = existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
  // Releases before 1.0 hold only the lock of the data folder.
  for (const lock of [join(root, '.rtr', 'up.lock'), ...locks]) {
    const holder = lockHolder(lock);
    if (holder !== undefined) return holder;
  }
  return undefined;
}
