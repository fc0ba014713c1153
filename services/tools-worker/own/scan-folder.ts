import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** Maximum number of files in a folder. Further files are ignored. */
const maxFiles = 1000;

export interface ToolFile {
  name: string;
  path: string;
  /**
   * Hexadecimal digits that change when the file changes. They also change when a file without a tool changes, because this file may import
   * it.
   */
  version: string;
}

/**
 * Finds the files with tools, sorted by name: the TypeScript and JavaScript files directly in the folder. Omits declarations and files
 * whose names begin with `_` or `.`. Tools may import all other files.
 */
export async function scanFolder(folder: string): Promise<ToolFile[]> {
  const toolFiles: { name: string; path: string; state: string }[] = [];
  const otherFiles: string[] = [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.split(sep).includes('node_modules'))
    .sort()
    .slice(0, maxFiles);
  for (const path of files) {
    const name = relative(folder, path);
    const state = await readState(path);
    if (state === undefined) continue;
    if (/^[^._/\\][^/\\]*(?<!\.d)\.(ts|mts|js|mjs)$/.test(name)) toolFiles.push({ name, path, state });
    else otherFiles.push(`${name} ${state}`);
  }
  return toolFiles.map(({ name, path, state }) => ({ name, path, version: computeDigest([state, ...otherFiles]) }));
}

/** Returns the file's state; undefined if the file was removed after it was listed. */
async function readState(path: string): Promise<string | undefined> {
  const facts = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return facts?.isFile() ? `${facts.mtimeNs} ${facts.size} ${facts.ino}` : undefined;
}

function computeDigest(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16);
}
