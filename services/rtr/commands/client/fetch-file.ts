import { toPathSegment } from '../path-segment.ts';
import { formatBytes } from './amounts.ts';
import type { ClientContext } from './client-context.ts';
import { CallError } from './call-error.ts';
import { writeContent } from './write-content.ts';
import type { WriteTarget } from './write-target.ts';

/**
 * Downloads the content of a file and shows the progress.
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
    await writeContent(pieces, { target, output });
  } finally {
    bar.end();
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
