import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The file of a built folder that contains the digest of its sources. */
const stampFile = 'stamp';

/**
 * Whether the folder was built from the current sources.
 * @param stamp the digest of the current sources
 */
export function isBuilt(folder: string, stamp: string): boolean {
  try {
    return readFileSync(join(folder, stampFile), 'utf8') === stamp;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Builds a folder under a temporary name, then puts it in the place of the old folder by two renames. A reader between the two renames
 * finds no folder and must try again.
 * @param stamp the digest of the sources
 * @param build writes the files into the folder `draft`
 */
export async function buildFolder(
  folder: string,
  stamp: string,
  build: (draft: string) => Promise<void>,
): Promise<void> {
  const draft = await mkdtemp(`${folder}-`);
  const old = `${draft}-old`;
  try {
    await build(draft);
    await writeFile(join(draft, stampFile), stamp);
    // mkdtemp makes a folder that only its owner can read, but the programs may run as another user.
    await chmod(draft, 0o755);
    await rename(folder, old).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    await rename(draft, folder).catch(async (error: unknown) => {
      await rename(old, folder).catch(() => undefined);
      throw error;
    });
  } finally {
    await rm(draft, { recursive: true, force: true });
    await rm(old, { recursive: true, force: true });
  }
}
