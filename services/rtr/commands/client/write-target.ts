import type { Stats } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { RouterError } from '#shared/core/errors.ts';
import { toLocalFileError } from './client-context.ts';

/** Path that means the standard output for writing, and the standard input for reading. */
export const standardStream = '-';

/**
 * Destination of content. A `new` file is created when the content is complete, unless the file exists by then; a `file` is created or
 * replaced when the content is complete; a `stream`, which is a device or a FIFO, is written to directly; `output` is the standard output.
 */
export interface WriteTarget {
  kind: 'new' | 'file' | 'stream' | 'output';
  /** Path of the destination. For a file, symbolic links are resolved. */
  path: string;
}

/**
 * Checks a path to which the user wants content written. Follows symbolic links.
 * @param force whether a file that exists may be replaced
 * @param hint what the user can do instead, as the end of the sentence that refuses an existing file
 * @throws RouterError `invalid_request` for a file that exists, a folder, or a link that leads nowhere
 */
export async function findWriteTarget(
  path: string,
  { force, hint }: { force: boolean; hint: string },
): Promise<WriteTarget> {
  if (path === standardStream || path === '/dev/stdout') return { kind: 'output', path };
  try {
    if (!(await exists(path))) return { kind: force ? 'file' : 'new', path };
    const stats = await stat(path);
    if (isStream(stats)) return { kind: 'stream', path };
    if (!force) throw new RouterError('invalid_request', `${path} exists already: ${hint}`);
    if (!stats.isFile())
      throw new RouterError('invalid_request', `${path} is not a regular file, and cannot be replaced.`);
    return { kind: 'file', path: await realpath(path) };
  } catch (error) {
    throw toLocalFileError(path, error);
  }
}

/** Whether a file is a device, a FIFO or a socket, which cannot be replaced and cannot be read twice. */
export function isStream(stats: Stats): boolean {
  return stats.isFIFO() || stats.isCharacterDevice() || stats.isBlockDevice() || stats.isSocket();
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
