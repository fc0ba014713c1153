import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Replaces a file atomically, so that a reader finds the old or the new content, never a part of it.
 * @param mode permissions; by default readable by its owner only
 */
export function replaceFile(file: string, content: string | Uint8Array, mode = 0o600): void {
  // Processes of two containers that share a folder may have the same id, so the id does not make a name of its own.
  const draft = `${file}.${randomUUID()}`;
  try {
    writeFileSync(draft, content, { mode, flag: 'wx', flush: true });
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
