import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { toLocalFileError } from '../client/client-context.ts';
import type { AdminContext } from './admin-context.ts';

/**
 * Reads the text of a file on this machine, or of the standard input (`-`).
 * @throws RouterError for a file that cannot be read
 */
export async function readText({ input }: Pick<AdminContext, 'input'>, path: string): Promise<string> {
  if (path === '-') return text(input);
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw toLocalFileError(path, error);
  }
}
