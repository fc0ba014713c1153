import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

/** The two servers that a cluster needs. */
export type ServerKind = 'nats' | 'redis';

/** The programs that provide each server, preferred first. */
export const serverPrograms: Record<ServerKind, readonly string[]> = {
  nats: ['nats-server'],
  redis: ['redis-server', 'valkey-server'],
};

/** Where package managers install servers, even when it is not on the PATH. */
const usualFolders = ['/usr/local/bin', '/usr/bin', '/usr/local/sbin', '/usr/sbin', '/opt/homebrew/bin'];

/** Path of an installed program for this server, from the PATH or the usual folders; undefined when there is none. */
export async function findServer(
  kind: ServerKind,
  path: string | undefined,
  further = usualFolders,
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
