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
  let read = 0;
  async function* counted(): AsyncGenerator<Uint8Array> {
    try {
      for await (const piece of content) {
        read += piece.length;
        const of = bytes === undefined ? '' : ` of ${bytesText(bytes)}`;
        bar.show(bytes === undefined ? undefined : read / bytes, `downloading ${bytesText(read)}${of}`);
        yield piece;
      }
    } catch (cause) {
      throw new CallError(0, `The download of ${id} was cut off after ${bytesText(read)}. Please try again.`, {
        cause,
      });
    }
  }
  try {
    await pipeline(counted(), createWriteStream(partial));
    await rename(partial, path);
  } catch (error) {
    await rm(partial, { force: true });
    throw localFileError(path, error);
  } finally {
    bar.end();
  }
}
