import { constants } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { toPathSegment } from '../path-segment.ts';
import { formatBytes } from './amounts.ts';
import { toLocalFileError, type ClientContext } from './client-context.ts';
import { CallError } from './call-error.ts';
import type { WriteTarget } from './write-target.ts';

/**
 * Downloads the content of a file and shows the progress. A file on this machine appears when the content is complete. A device, a FIFO or
 * the standard output gets the content as it arrives.
 * @param id id as the API shows it
 * @throws RouterError `invalid_request` if the target cannot be written
 * @throws CallError
 */
export async function fetchFile(
  { client, bar, output }: Pick<ClientContext, 'client' | 'bar' | 'output'>,
  id: string,
  target: WriteTarget,
): Promise<void> {
  const { bytes, content } = await client.open(`/files/${toPathSegment(id)}/content`);
  const onPiece = (read: number): void => {
    const ofTotal = bytes === undefined ? '' : ` of ${formatBytes(bytes)}`;
    bar.show(bytes === undefined ? undefined : read / bytes, `downloading ${formatBytes(read)}${ofTotal}`);
  };
  const pieces = readContent(id, content, onPiece);
  try {
    if (target.kind === 'output') await pipeline(pieces, output, { end: false });
    // The flags do not create a file, so no file replaces a device that has disappeared in the meantime.
    else if (target.kind === 'stream') await writePieces(pieces, await open(target.path, constants.O_WRONLY));
    else await replaceFile(pieces, target.path);
  } catch (error) {
    throw toLocalFileError(target.path, error);
  } finally {
    bar.end();
  }
}

async function writePieces(pieces: AsyncIterable<Uint8Array>, file: FileHandle): Promise<void> {
  await pipeline(pieces, file.createWriteStream());
}

async function replaceFile(pieces: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const partial = `${path}.${process.pid}.part`;
  const file = await open(partial, 'wx');
  try {
    await writePieces(pieces, file);
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw error;
  }
}

/**
 * Yields the content of a file as it arrives.
 * @param onPiece called with the number of bytes that have arrived so far
 * @throws CallError if the content is cut off
 */
export async function* readContent(
  id: string,
  content: AsyncIterable<Uint8Array>,
  onPiece?: (read: number) => void,
): AsyncGenerator<Uint8Array> {
  let read = 0;
  try {
    for await (const piece of content) {
      read += piece.length;
      onPiece?.(read);
      yield piece;
    }
  } catch (cause) {
    const message = `The download of ${id} was cut off after ${formatBytes(read)}. Please try again.`;
    throw new CallError(0, message, { cause });
  }
}
