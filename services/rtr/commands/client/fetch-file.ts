import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { bytesText } from './amounts.ts';
import { localFileError, type ClientContext } from './client-context.ts';
import { CallError } from './router-client.ts';

/**
 * Downloads the content of a file into one of this machine, which appears when it is whole, and shows the progress.
 * @param id as the API shows it
 * @throws RouterError `invalid_request` where nothing can be written, or a CallError
 */
export async function fetchFile(
  { client, bar }: Pick<ClientContext, 'client' | 'bar'>,
  id: string,
  path: string,
): Promise<void> {
  const { bytes, content } = await client.open(`/files/${encodeURIComponent(id)}/content`);
  const partial = `${path}.part`;
  const onPiece = (read: number): void => {
    const of = bytes === undefined ? '' : ` of ${bytesText(bytes)}`;
    bar.show(bytes === undefined ? undefined : read / bytes, `downloading ${bytesText(read)}${of}`);
  };
  try {
    await pipeline(contentOf(id, content, onPiece), createWriteStream(partial));
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw localFileError(path, error);
  } finally {
    bar.end();
  }
}

/**
 * The content of a file as it arrives.
 * @param onPiece called with how many bytes have arrived
 * @throws CallError when it is cut off
 */
export async function* contentOf(
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
    const message = `The download of ${id} was cut off after ${bytesText(read)}. Please try again.`;
    throw new CallError(0, message, { cause });
  }
}
