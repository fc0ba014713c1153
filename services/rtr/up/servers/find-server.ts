import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';

export type ServerKind = 'nats' | 'redis';

/** The programs that provide each server, preferred first. */
export const serverPrograms: Record<ServerKind, readonly string[]> = {
  nats: ['nats-server'],
  redis: ['redis-server', 'valkey-server'],
};

/** Folders into which package managers install servers. They may be missing from the PATH. */
const defaultFolders = ['/usr/local/bin', '/usr/bin', '/usr/local/sbin', '/usr/sbin', '/opt/homebrew/bin'];

/** Returns the path of an installed program for this server, from the PATH or the usual folders; undefined if none is installed. */
export async function findServer(
  kind: ServerKind,
  path: string | undefined,
  further = defaultFolders,
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
