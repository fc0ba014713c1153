import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** The two servers a cluster stands on. */
export type ServerKind = 'nats' | 'redis';

/** The programs that can be each of them, best first. */
export const serverPrograms: Record<ServerKind, readonly string[]> = {
  nats: ['nats-server'],
  redis: ['redis-server', 'valkey-server'],
};

/** Where package managers put servers, though it is not on everybody's PATH. */
const furtherFolders = ['/usr/local/bin', '/usr/bin', '/usr/local/sbin', '/usr/sbin', '/opt/homebrew/bin'];

/** Path of an installed program for this server, looked for on the PATH and in the usual folders; undefined when there is none. */
export async function findServer(
  kind: ServerKind,
  path: string | undefined,
  further = furtherFolders,
): Promise<string | undefined> {
  const folders = [...(path ?? '').split(delimiter).filter((folder) => folder !== ''), ...further];
  for (const program of serverPrograms[kind]) {
    for (const folder of folders) {
      const file = join(folder, program);
      if (await isExecutable(file)) return file;
    }
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
