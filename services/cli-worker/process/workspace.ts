import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Empty folders for one process, which finds nothing of the user's or of another conversation in them. */
export interface Workspace {
  /** Home folder. */
  home: string;
  /** Working folder. */
  cwd: string;
  /** Folder for temporary files. */
  tmp: string;
  remove(): Promise<void>;
}

/** Makes a workspace. @param root folder that holds the workspaces of a worker */
export async function createWorkspace(root: string): Promise<Workspace> {
  const folder = await mkdtemp(join(root, 's-'));
  const [home, cwd, tmp] = [join(folder, 'home'), join(folder, 'work'), join(folder, 'tmp')];
  await Promise.all([home, cwd, tmp].map((path) => mkdir(path, { mode: 0o700 })));
  return {
    home,
    cwd,
    tmp,
    // Tries again while a process that ends still writes.
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}
