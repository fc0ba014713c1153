import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** Maximum number of files of a folder that are read. */
const maxFiles = 1000;

export interface ToolFile {
  name: string;
  path: string;
  /** Hexadecimal digits that change when the file changes, or any other file of the folder that it may import. */
  version: string;
}

/**
 * Finds the files with tools, sorted by name. They are the TypeScript and JavaScript files directly in the folder, except declarations and
 * files whose names begin with `_` or `.`. Tools may import all other files.
 */
export async function scanFolder(folder: string): Promise<ToolFile[]> {
  const own: { name: string; path: string; state: string }[] = [];
  const others: string[] = [];
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.split(sep).includes('node_modules'))
    .sort()
    .slice(0, maxFiles);
  for (const path of files) {
    const name = relative(folder, path);
    const state = await stateOf(path);
    if (state === undefined) continue;
    if (/^[^._/\\][^/\\]*(?<!\.d)\.(ts|mts|js|mjs)$/.test(name)) own.push({ name, path, state });
    else others.push(`${name} ${state}`);
  }
  return own.map(({ name, path, state }) => ({ name, path, version: digest([state, ...others]) }));
}

/** Returns the file's state; undefined if it was removed after it was listed. */
async function stateOf(path: string): Promise<string | undefined> {
  const facts = await stat(path, { bigint: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return facts?.isFile() ? `${facts.mtimeNs} ${facts.size} ${facts.ino}` : undefined;
}

function digest(parts: readonly string[]): string {
  return createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16);
}
