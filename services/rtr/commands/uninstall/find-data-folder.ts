import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { formatBytes } from '../client/amounts.ts';

/** Something on this machine that `rtr uninstall` removes. */
export interface RemovablePart {
  description: string;
  remove: () => Promise<void> | void;
}

/** What the user loses with a file or folder of the data folder, by its name. */
const contents: Readonly<Record<string, string>> = {
  redis: 'accounts, keys, limits and usage',
  nats: 'files and results of batches',
  credentials: 'the secrets that sign the credentials of workers',
  tls: 'the certificate',
  logs: 'logs',
};

/** Returns the data folder of a cluster; undefined if there is none. */
export function findDataFolder(folder: string): RemovablePart | undefined {
  if (!existsSync(folder)) return undefined;
  const lost = Object.entries(contents).flatMap(([name, text]) => (existsSync(join(folder, name)) ? [text] : []));
  const sentence = lost.length === 0 ? 'what this program has built' : lost.join('; ');
  return {
    description: `${folder} (${formatBytes(computeSize(folder))}): ${sentence}`,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Returns the bytes of all files in a folder. Links are not followed. */
function computeSize(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.reduce(
    (bytes, entry) => bytes + (entry.isFile() ? lstatSync(join(entry.parentPath, entry.name)).size : 0),
    0,
  );
}
