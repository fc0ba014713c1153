import { renameSync, writeFileSync } from 'node:fs';

/**
 * Writes a file in one step: who reads it finds the old or the new content, never half of it.
 * @param mode who may read it; only its owner when left out
 */
export function replaceFile(file: string, content: string, mode = 0o600): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, content, { mode });
  renameSync(draft, file);
}
