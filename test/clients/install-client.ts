import { installCli } from '../helpers/clis/install-clis.ts';
import { installOnce } from '../helpers/processes/install-once.ts';
import type { Client } from './client.ts';

/**
 * Installs a client's packages, once for all copies of the project.
 * @returns the folder with its `node_modules`, or of its virtual environment
 * @throws Error with what the package manager said
 */
export function installClient({ from: { registry, packages }, cli }: Client): Promise<string> {
  if (cli !== undefined) return installCli(cli);
  const given = Object.entries(packages);
  const name = `clients/${registry}-${given
    .flat()
    .join('-')
    .replaceAll(/[^\w.-]+/g, '')}`.toLowerCase();
  if (registry === 'npm') {
    const wanted = given.map(([each, version]) => `${each}@${version}`);
    const flags = ['--prefix', '.', '--no-fund', '--no-audit', '--save-exact'];
    return installOnce(name, [['npm', 'install', ...flags, ...wanted]]);
  }
  const wanted = given.map(([each, version]) => `${each}==${version}`);
  const pip = ['-m', 'pip', 'install', '--quiet', '--no-compile', '--disable-pip-version-check'] as const;
  return installOnce(name, [
    ['python3', '-m', 'venv', '.'],
    ['bin/python', ...pip, ...wanted],
  ]);
}
