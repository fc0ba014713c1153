import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ComposeProject } from '../helpers/compose/compose-project.ts';

/** Runs `rtr credentials` in the project, which has the keys that sign them. */
export const trust = ['run', '--rm', '-T', '--entrypoint', 'rtr', 'prepare', 'credentials'];

/**
 * Issues the credential of a worker on another machine, as an operator does.
 * @returns the file, in a folder of this machine
 */
export async function outsideCredential(
  compose: ComposeProject,
  { tier, name, folder }: { tier: string; name: string; folder: string },
): Promise<string> {
  const out = `/volumes/trust/${name}.creds`;
  const what = ['--from', '/volumes/trust', '--tier', tier, '--name', name, '--out', out];
  await compose.run(...trust, 'worker', ...what);
  const file = join(folder, `${name}.creds`);
  await writeFile(file, await compose.run('run', '--rm', '-T', '--entrypoint', 'cat', 'prepare', out));
  return file;
}
