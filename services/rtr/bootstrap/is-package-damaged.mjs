import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { findNode } from './run-on-node.mjs';

const probeTimeoutMs = 30_000;

/** What Node reports when a file of a package is missing, cut off or unreadable. The frames of the stack are not searched. */
const damage = /[\\/]node_modules[\\/]|Cannot find package '|The requested module '(?![./#])/;

/**
 * Whether a file of the project cannot be imported because of an installed package.
 * @param {string} root folder of the project
 * @param {string} file path inside the project
 * @param {string} probe argument with which the file imports its modules and ends
 */
export function isPackageDamaged(root, file, probe) {
  const { status, stderr } = spawnSync(findNode(root) ?? process.execPath, [join(root, file), probe], {
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: probeTimeoutMs,
  });
  return status === 1 && damage.test(stderr.replaceAll(/^ +at .*$/gm, ''));
}
