import { renameSync, writeFileSync } from 'node:fs';

/** Writes a file in one step, readable by its owner only: who reads it finds the old or the new content, never half of it. */
export function replaceFile(file: string, content: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, file);
}
