import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import { RouterError } from '#shared/core/errors.ts';
import { arrivingBody } from './arriving-body.ts';

/** What a form may have besides its one file. */
const limits = { files: 1, fields: 20, parts: 30, fieldNameSize: 100, fieldSize: 64 * 1024, headerPairs: 20 };

/** What a form says of its file. */
export interface FormFile {
  name: string;
  mimeType: string;
}

/** A form that has arrived. */
export interface Form<Kept> {
  fields: ReadonlyMap<string, string>;
  /** Undefined for a form without a file. */
  file: (FormFile & { kept: Kept }) | undefined;
}

export interface FormReader<Kept> {
  /** Milliseconds without a byte until the form counts as lost. */
  timeoutMs: number;
  /** Reads the content of the field `file` to its end, and cleans up when that fails. */
  keep: (content: AsyncIterable<Uint8Array>) => Promise<Kept>;
}

/**
 * Receives a form with a file (RFC 7578), whose content goes to `keep` as it arrives. Fields may stand before and behind it.
 * @throws RouterError `invalid_request` for what is no form or is cut off, `unsupported_encoding`, `request_timeout`, or what `keep`
 * throws: after it has ended
 */
export async function receiveForm<Kept>(
  request: IncomingMessage,
  { timeoutMs, keep }: FormReader<Kept>,
): Promise<Form<Kept>> {
  const parser = openParser(request);
  const fields = new Map<string, string>();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);
  let content: Readable | undefined;
  let keeping: Promise<FormFile & { kept: Kept }> | undefined;
  parser.on('error', (cause: unknown) => failed.reject(notAForm(cause)));
  parser.on('field', (name, value) => fields.set(name, value));
  parser.on('file', (field, stream, name, _encoding, mimeType) => {
    if (field !== 'file') {
      stream.resume();
      return;
    }
    content = stream;
    stream.on('error', () => undefined);
    keeping = keep(stream).then((kept) => ({ name, mimeType, kept }));
    keeping.catch((error: unknown) => failed.reject(error));
  });
  try {
    for await (const piece of arrivingBody(request, timeoutMs)) {
      if (parser.write(piece)) continue;
      const drained = Promise.withResolvers<void>();
      parser.once('drain', drained.resolve);
      await Promise.race([drained.promise, failed.promise]);
    }
    const finished = Promise.withResolvers<void>();
    parser.once('finish', finished.resolve);
    parser.end();
    await Promise.race([finished.promise, failed.promise]);
    return { fields, file: await keeping };
  } catch (error) {
    content?.destroy(error instanceof Error ? error : undefined);
    await keeping?.catch(() => undefined);
    throw error;
  }
}

function openParser(request: IncomingMessage): InstanceType<typeof Busboy> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity')
    throw new RouterError('unsupported_encoding', 'An upload must not have a content-encoding.');
  try {
    return new Busboy({ headers: request.headers as BusboyHeaders, limits });
  } catch (cause) {
    throw notAForm(cause);
  }
}

function notAForm(cause: unknown): RouterError {
  return new RouterError('invalid_request', 'The body must be a form (multipart/form-data) that is complete.', {
    cause,
  });
}
