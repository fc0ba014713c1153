import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { toLocalFileError } from './client-context.ts';
import type { WriteTarget } from './write-target.ts';

export interface WriteOptions {
  target: WriteTarget;
  /** Standard output. */
  output: Writable;
  /** Permissions of a file that is written. Default: 0o666, less the umask of the process. */
  mode?: number;
}

type Content = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/**
 * Writes content, such as a file that arrives from the router. A file on this machine appears when the content is complete; a new file
 * replaces no file that has appeared meanwhile. A device, a FIFO or the standard output gets the content as it arrives.
 * @throws RouterError `invalid_request` if the target cannot be written
 * @throws the errors of the content
 */
export async function writeContent(content: Content, { target, output, mode }: WriteOptions): Promise<void> {
  try {
    if (target.kind === 'output') await pipeline(content, output, { end: false });
    // The flags do not create a file, so no file replaces a device that has disappeared in the meantime.
    else if (target.kind === 'stream') await writePieces(content, await open(target.path, constants.O_WRONLY));
    else await writeFile(content, target, mode);
  } catch (error) {
    throw toLocalFileError(target.path, error);
  }
}

/** @param flush whether the content must be on the disk before the file is closed; not possible for a device */
async function writePieces(pieces: Content, file: FileHandle, flush = false): Promise<void> {
  await pipeline(pieces, file.createWriteStream({ flush }));
}

async function writeFile(pieces: Content, { kind, path }: WriteTarget, mode?: number): Promise<void> {
  const partial = `${path}.${randomUUID()}.part`;
  const file = await open(partial, 'wx', mode);
  let hasEmptyFile = false;
  try {
    await writePieces(pieces, file, true);
    if (kind === 'new') {
      await createEmptyFile(path);
      hasEmptyFile = true;
    }
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    if (hasEmptyFile) await rm(path, { force: true });
    throw error;
  }
}

/**
 * Creates an empty file, which is then replaced. A hard link to the complete file would need no empty file, but some file systems have no
 * hard links.
 * @throws the system's error `EEXIST` if the file exists
 */
async function createEmptyFile(path: string): Promise<void> {
  await (await open(path, 'wx')).close();
}
