import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isInstalledPackage } from '../../../shared/core/installed-package.mjs';
import { ensureNode } from './ensure-node.mjs';
import { installDependencies } from './install-dependencies.mjs';
import { InstallError } from './run-npm.mjs';
import { isPackageDamaged } from './is-package-damaged.mjs';
import { hostNodeSuffices, runOnNode } from './run-on-node.mjs';

/** The folder of the project: a checkout or the installed package. */
export const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

/**
 * Runs a file of the project on Node 24. In a checkout it first installs missing dependencies; an installed package has them, and fetches
 * Node 24 if the machine has an older one. This module runs on Node 20 and newer, before any dependency is installed. Therefore it imports
 * only Node's built-in modules.
 * @param {string} file path inside the project
 * @param {readonly string[]} args
 * @param {object} needs
 * @param {boolean} needs.checks whether to install also the packages that only the checks need, such as the linter
 * @param {readonly string[]} [needs.nodeFlags] command-line flags for Node
 * @param {string} [needs.folder] the data folder
 * @param {string} [needs.probe] argument with which the file imports its modules and ends. With it, damaged packages are installed again
 */
export async function bootstrap(file, args, { checks, nodeFlags = [], folder = join(root, '.rtr'), probe }) {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20) {
    console.error(`Node 20 or newer is required; this is Node ${process.versions.node}.`);
    process.exit(1);
  }
  if (process.platform === 'win32') {
    console.error(
      'On Windows, Model Router runs in WSL: run `wsl --install`, then install Node and Model Router there.',
    );
    process.exit(1);
  }
  if (isInstalledPackage(root)) {
    const node = await orExit(ensureNode(root, folder));
    runOnNode(root, file, args, { nodeFlags, folder, node });
    return;
  }
  const purpose = checks ? 'all' : hostNodeSuffices ? 'run' : 'run-with-node';
  await orExit(installDependencies(root, purpose));
  const repair = async () => {
    if (probe === undefined || !isPackageDamaged(root, file, probe)) return false;
    console.error('An installed package is damaged: all packages are installed again.');
    await orExit(installDependencies(root, purpose, { areDamaged: true }));
    return true;
  };
  runOnNode(root, file, args, { nodeFlags, folder, repair });
}

/**
 * Waits for an installation. Ends the process with the sentence of its error if it fails.
 * @template Result
 * @param {Promise<Result>} installation
 * @returns {Promise<Result>}
 */
async function orExit(installation) {
  try {
    return await installation;
  } catch (error) {
    if (!(error instanceof InstallError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
}
