import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Empty folders for one process, with nothing of the user or of another conversation. */
export interface Workspace {
  home: string;
  cwd: string;
  tmp: string;
  remove(): Promise<void>;
}

/** @param root folder of all workspaces of a worker */
export async function createWorkspace(root: string): Promise<Workspace> {
  const folder = await mkdtemp(join(root, 's-'));
  const [home, cwd, tmp] = [join(folder, 'home'), join(folder, 'work'), join(folder, 'tmp')];
  await Promise.all([home, cwd, tmp].map((path) => mkdir(path, { mode: 0o700 })));
  return {
    home,
    cwd,
    tmp,
    // The removal is tried again, because a process that is ending may still write.
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}
