import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

/** Files looked at in a folder of tools, at most. */
const maxFiles = 1000;

/** A file that should hold a tool. */
export interface ToolFile {
  /** Its name in the folder. */
  name: string;
  path: string;
  /** Hexadecimal; changes when it or anything that it may import from the folder changes. */
  version: string;
}

/**
 * Finds the files that hold tools: TypeScript and JavaScript directly in the folder, by name, those beginning with `_`
 * or `.` and declarations aside. All other files are what tools may import.
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

/** A file that is gone between listing and looking is no file. */
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
