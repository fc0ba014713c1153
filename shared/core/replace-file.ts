import { renameSync, writeFileSync } from 'node:fs';

/**
 * Replaces a file atomically, so that a reader finds the old or the new content, never a part of it.
 * @param mode permissions; by default readable by its owner only
 */
export function replaceFile(file: string, content: string, mode = 0o600): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, content, { mode });
  renameSync(draft, file);
}
