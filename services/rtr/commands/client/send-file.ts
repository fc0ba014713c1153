import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { RouterError } from '#shared/core/errors.ts';
import { formatBytes } from './amounts.ts';
import { toLocalFileError, type ClientContext } from './client-context.ts';
import type { SentBody } from './router-client.ts';
import type { LocalInput } from './with-input.ts';

export interface FileObject {
  id: string;
  bytes: number;
  /** Seconds since 1970. */
  created_at: number;
  expires_at?: number | null;
  filename: string;
  purpose: string;
}

/**
 * Streams a file from this machine to the router, and shows the progress.
 * @throws RouterError `invalid_request` for a file that cannot be read or is empty
 * @throws CallError
 */
export async function sendFile(
  { client, bar }: Pick<ClientContext, 'client' | 'bar'>,
  { path, name }: LocalInput,
  purpose: string,
): Promise<FileObject> {
  const { size } = await stat(path).catch((error: unknown) => {
    throw toLocalFileError(path, error);
  });
  if (size === 0) throw new RouterError('invalid_request', `${path} is empty.`);
  let sent = 0;
  const onPiece = (bytes: number): void => {
    sent += bytes;
    bar.show(sent / size, `uploading ${formatBytes(sent)} of ${formatBytes(size)}`);
  };
  const readFailure: { error?: unknown } = {};
  try {
    return await client.send<FileObject>('/files', createForm({ path, name, size, purpose, onPiece, readFailure }));
  } catch (error) {
    throw toLocalFileError(path, readFailure.error ?? error);
  } finally {
    bar.end();
  }
}

interface FormOptions {
  path: string;
  name: string;
  size: number;
  purpose: string;
  onPiece: (bytes: number) => void;
  /** Gets the error if the file cannot be read to its end. */
  readFailure: { error?: unknown };
}

/** Creates a form with the file (RFC 7578), without holding the file in memory. */
function createForm({ path, name: filename, size, purpose, onPiece, readFailure }: FormOptions): SentBody {
  const boundary = randomBytes(16).toString('hex');
  const name = filename.replaceAll('"', '%22').replaceAll(/[\r\n]/g, ' ');
  const head = Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="purpose"\r\n\r\n${purpose}\r\n` +
      `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n` +
      'content-type: application/octet-stream\r\n\r\n',
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* content(): AsyncGenerator<Uint8Array> {
    yield head;
    try {
      // Content appended to the file in the meantime is left out, because the length of the form is already sent.
      for await (const piece of createReadStream(path, { end: size - 1 })) {
        yield piece as Buffer;
        onPiece((piece as Buffer).length);
      }
    } catch (error) {
      readFailure.error = error;
      throw error;
    }
    yield tail;
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes: head.length + size + tail.length,
    content: Readable.from(content(), { objectMode: false }),
  };
}
