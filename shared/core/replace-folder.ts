import { rename, rm } from 'node:fs/promises';

/** Replaces a folder by two renames. A reader in between finds nothing and tries again. */
export async function replaceFolder(draft: string, folder: string): Promise<void> {
  const old = `${draft}-old`;
  try {
    await rename(folder, old);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
  }
  await rename(draft, folder);
  await rm(old, { recursive: true, force: true });
}
