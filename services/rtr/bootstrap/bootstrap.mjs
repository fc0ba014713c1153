import { fileURLToPath } from 'node:url';
import { installDependencies } from './install-dependencies.mjs';
import { InstallError } from './install-error.mjs';
import { isPackageDamaged } from './is-package-damaged.mjs';
import { hostNodeSuffices, runOnNode } from './run-on-node.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

/**
 * Runs a file of the project on Node 24: installs missing dependencies, then starts Node 24 with the file. This module runs on Node 20 and
 * newer, before any dependency is installed. Therefore it imports only Node's built-in modules.
 * @param {string} file path inside the project
 * @param {readonly string[]} args
 * @param {object} needs
 * @param {boolean} needs.checks whether to install also the packages that only the checks need, such as the linter
 * @param {readonly string[]} [needs.nodeFlags] command-line flags for Node
 * @param {string} [needs.probe] argument with which the file imports its modules and ends. With it, damaged packages are installed again
 */
export async function bootstrap(file, args, { checks, nodeFlags = [], probe }) {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20) {
    console.error(`Node 20 or newer is required; this is Node ${process.versions.node}.`);
    process.exit(1);
  }
  /** @param {{ areDamaged?: boolean }} [options] */
  const install = async (options) => {
    try {
      await installDependencies(root, checks ? 'all' : hostNodeSuffices ? 'run' : 'run-with-node', options);
    } catch (error) {
      if (!(error instanceof InstallError)) throw error;
      console.error(error.message);
      process.exit(1);
    }
  };
  await install();
  runOnNode(root, file, args, nodeFlags, async () => {
    if (probe === undefined || !isPackageDamaged(root, file, probe)) return false;
    console.error('An installed package is damaged: all packages are installed again.');
    await install({ areDamaged: true });
    return true;
  });
}
