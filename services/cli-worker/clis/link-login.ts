import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Login, ReadVariable } from './logins.ts';

/**
 * Makes a CLI's own folder, with the user's login in it and nothing else of the user's: no settings, servers, memories.
 * The files are linked, not copied, because a CLI that renews a login must renew the user's.
 */
export async function linkLogin(login: Login, variable: ReadVariable, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const usersFolder = login.folder(variable);
  await Promise.all(login.files.map((name) => symlink(join(usersFolder, name), join(folder, name))));
}
