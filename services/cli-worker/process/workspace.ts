import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Empty folders for one process: nothing of the machine's, of the user's or of another conversation is in them. */
export interface Workspace {
  /** Its home folder. */
  home: string;
  /** Where it is started. */
  cwd: string;
  /** Its temporary files. */
  tmp: string;
  remove(): Promise<void>;
}

/**
 * Makes a workspace.
 * @param root folder that holds the workspaces of a worker
 */
export async function createWorkspace(root: string): Promise<Workspace> {
  const folder = await mkdtemp(join(root, 's-'));
  const [home, cwd, tmp] = [join(folder, 'home'), join(folder, 'work'), join(folder, 'tmp')];
  await Promise.all([home, cwd, tmp].map((path) => mkdir(path, { mode: 0o700 })));
  return {
    home,
    cwd,
    tmp,
    // What is still being written to while its process ends is tried again.
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }),
  };
}
