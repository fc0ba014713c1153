import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { waitForLock } from './install-dependencies.mjs';
import { reportProgress } from './report-progress.mjs';
import { runNpm } from './run-npm.mjs';
import { hostNodeSuffices } from './run-on-node.mjs';

/** About what the download takes, for the message. */
const downloadSize = '50 MB';

/**
 * Returns the program of a Node that can run the installed package: the machine's, or else one that is fetched through npm once into the
 * data folder. An interrupted download leaves a folder that the next start removes. Only one process downloads at a time; others wait.
 * @param {string} root folder of the package
 * @param {string} folder the data folder
 * @param {boolean} [suffices] whether the machine's Node can run the package
 * @throws {import('./run-npm.mjs').InstallError}
 */
export async function ensureNode(root, folder, suffices = hostNodeSuffices) {
  if (suffices) return process.execPath;
  const { node: version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).config;
  const home = join(folder, 'node', version);
  const program = join(home, 'bin', 'node');
  if (existsSync(program)) return program;
  const lock = await waitForLock(join(folder, 'node', 'install.lock'));
  try {
    if (!existsSync(program)) await fetchNode(version, home);
  } finally {
    lock.release();
  }
  return program;
}

/**
 * Fetches the package that contains the program for this system. The package `node` itself is not used, because it has an install script.
 * @param {string} version
 * @param {string} home
 */
async function fetchNode(version, home) {
  const { platform, arch } = process;
  const name = `${platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node'}-${platform}-${arch}`;
  console.error(`Fetching Node ${version} through npm, once (${name}, ${downloadSize}), into ${home} …`);
  const draft = `${home}.new`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const flags = ['--no-save', '--no-package-lock', '--ignore-scripts'];
  const progress = reportProgress(draft, [join('node_modules', name)]);
  try {
    await runNpm(draft, ['install', '--prefix', draft, ...flags, `${name}@${version}`]);
  } finally {
    progress.stop();
  }
  const fetched = join(draft, 'node_modules', name);
  // Headers and documentation take a third of the space.
  for (const folder of ['include', 'share']) rmSync(join(fetched, folder), { recursive: true, force: true });
  renameSync(fetched, home);
  rmSync(draft, { recursive: true, force: true });
}
