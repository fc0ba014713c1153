import { fileURLToPath } from 'node:url';
import { InstallError, installDependencies } from './install-dependencies.mjs';
import { hostNodeSuffices, runOnNode } from './run-on-node.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');

/**
 * Runs a file of the project on a machine that may have an older Node (20 and newer) and no dependencies installed yet:
 * installs what is missing, then hands over to Node 24. Only Node's own modules are used up to there.
 * @param {string} file path inside the project
 * @param {readonly string[]} args
 * @param {object} needs
 * @param {boolean} needs.checks whether the tools of the checks are needed too
 * @param {readonly string[]} [needs.nodeFlags] what Node is told
 */
export async function bootstrap(file, args, { checks, nodeFlags = [] }) {
  const major = Number(process.versions.node.split('.')[0]);
  if (major < 20) {
    console.error(`Node 20 or newer is needed, this is ${process.versions.node}.`);
    process.exit(1);
  }
  try {
    await installDependencies(root, checks ? 'all' : hostNodeSuffices ? 'run' : 'run-with-node');
  } catch (error) {
    if (!(error instanceof InstallError)) throw error;
    console.error(error.message);
    process.exit(1);
  }
  runOnNode(root, file, args, nodeFlags);
}
