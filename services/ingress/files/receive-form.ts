import type { IncomingMessage } from 'node:http';
import { Busboy, type BusboyFileStream, type BusboyHeaders } from '@fastify/busboy';
import { RouterError } from '#shared/core/errors.ts';
import type { BodyReservation } from '../http/body-reservation.ts';
import { readArrivingBody } from './read-arriving-body.ts';

/** Limits of a form apart from its files. The longest field is a prompt for pictures, with 32,000 characters. */
const limits = { fields: 20, fieldNameSize: 100, fieldSize: 128 * 1024, headerPairs: 20 };

/** Largest number of bytes outside of files: the fields, and the headers of all parts. */
const maxBytesOutside = limits.fields * limits.fieldSize + 64 * 1024;

/**
 * Returns the bytes of memory of a piece of a field. Each byte may become a character of two bytes, and a short string costs 64 bytes more.
 */
const computeFieldMemory = (bytes: number): number => 2 * bytes + 64;

/** The name and the type that a form states for a file. */
export interface FormFile {
  name: string;
  mimeType: string;
}

/** A file of a form after `keep` has read it. */
export interface KeptFile<Kept> extends FormFile {
  field: string;
  kept: Kept;
}

export interface Form<Kept> {
  fields: ReadonlyMap<string, string>;
  /** The fields in their order. Unlike `fields`, they include all fields with the same name. */
  entries: readonly (readonly [name: string, value: string])[];
  files: readonly KeptFile<Kept>[];
}

export interface ReceiveFormOptions<Kept> {
  /** Milliseconds without a byte after which the form is refused. */
  timeoutMs: number;
  /** The memory reserved for the request, see `readArrivingBody`. */
  reservation: Pick<BodyReservation, 'markSlow' | 'markArrived' | 'grow'>;
  /** Largest number of files; a form with more is refused. */
  maxFiles: number;
  /** Whether the file of a field is kept. Other files are read and discarded. */
  isKept: (field: string) => boolean;
  /** Reads the content of a file to its end, and cleans up on failure. */
  keep: (content: AsyncIterable<Uint8Array>) => Promise<Kept>;
  /** Cleans up a kept file when the form turns out to be invalid. */
  discard?: (kept: Kept) => Promise<void>;
}

/**
 * Receives a form with files (RFC 7578) and streams the content of each file to `keep` as it arrives. Fields may come before and after the
 * files.
 * @throws RouterError `invalid_request` for a body that is not a form, is cut off or has too many or too long fields; `body_too_large`,
 * `unsupported_encoding`, `request_timeout`, `overloaded`; or an error of `keep`. Throws only after every `keep` has ended
 */
export async function receiveForm<Kept>(
  request: IncomingMessage,
  { timeoutMs, reservation, maxFiles, isKept, keep, discard }: ReceiveFormOptions<Kept>,
): Promise<Form<Kept>> {
  const parser = openParser(request, maxFiles);
  const entries: [name: string, value: string][] = [];
  const failure = Promise.withResolvers<never>();
  let hasFailed = false;
  failure.promise.catch(() => {
    hasFailed = true;
  });
  const contents: BusboyFileStream[] = [];
  const keptFiles: Promise<KeptFile<Kept>>[] = [];
  parser.on('error', (cause: unknown) => failure.reject(invalidFormError(cause)));
  parser.on('filesLimit', () => failure.reject(tooManyError('files', maxFiles)));
  parser.on('fieldsLimit', () => failure.reject(tooManyError('fields', limits.fields)));
  parser.on('partsLimit', () => failure.reject(tooManyError('parts', limits.fields + maxFiles)));
  parser.on('field', (name: string | undefined, value, _isNameCut, isCut) => {
    if (name === undefined) failure.reject(unnamedPartError());
    else if (isCut) failure.reject(tooLongError(name));
    else entries.push([name, value]);
  });
  // A part may have a file's content but no file name.
  parser.on('file', (field: string | undefined, stream, name: string | undefined, _encoding, mimeType) => {
    contents.push(stream);
    stream.on('error', () => undefined);
    if (field === undefined) failure.reject(unnamedPartError());
    if (field === undefined || !isKept(field)) {
      stream.resume();
      return;
    }
    const kept = keep(stream).then((content) => ({ field, name: name ?? '', mimeType, kept: content }));
    kept.catch((error: unknown) => failure.reject(error));
    keptFiles.push(kept);
  });
  let arrivedBytes = 0;
  let bytesOutside = 0;
  const countOutside = (): void => {
    const bytes = arrivedBytes - contents.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    if (bytes <= bytesOutside) return;
    if (bytes > maxBytesOutside)
      throw new RouterError('body_too_large', `The form has more than ${maxBytesOutside} bytes besides its files.`);
    reservation.grow(computeFieldMemory(bytes - bytesOutside));
    bytesOutside = bytes;
  };
  try {
    for await (const piece of readArrivingBody(request, timeoutMs, reservation)) {
      if (!parser.write(piece) || hasFailed) {
        const drained = Promise.withResolvers<void>();
        parser.once('drain', drained.resolve);
        await Promise.race([failure.promise, drained.promise]);
      }
      arrivedBytes += piece.length;
      countOutside();
    }
    const finished = Promise.withResolvers<void>();
    parser.once('finish', finished.resolve);
    parser.end();
    await Promise.race([failure.promise, finished.promise]);
    return { fields: new Map(entries), entries, files: await Promise.all(keptFiles) };
  } catch (error) {
    for (const content of contents) content.destroy(error instanceof Error ? error : undefined);
    for (const file of await Promise.allSettled(keptFiles))
      if (file.status === 'fulfilled') await discard?.(file.value.kept);
    throw error;
  }
}

function openParser(request: IncomingMessage, files: number): InstanceType<typeof Busboy> {
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity')
    throw new RouterError('unsupported_encoding', 'An upload must not have a content-encoding.');
  try {
    return new Busboy({
      headers: request.headers as BusboyHeaders,
      limits: { ...limits, files, parts: limits.fields + files },
    });
  } catch (cause) {
    throw invalidFormError(cause);
  }
}

function tooManyError(items: string, max: number): RouterError {
  return new RouterError('invalid_request', `The form has too many ${items}: ${max} is the most.`);
}

function unnamedPartError(): RouterError {
  return new RouterError('invalid_request', 'A part of the form has no name.');
}

function tooLongError(param: string): RouterError {
  return new RouterError('invalid_request', `The field '${param}' is longer than ${limits.fieldSize} bytes.`, {
    param,
  });
}

function invalidFormError(cause: unknown): RouterError {
  return new RouterError('invalid_request', 'The body must be a form (multipart/form-data) that is complete.', {
    cause,
  });
}
