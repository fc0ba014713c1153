import { RouterError } from '#shared/core/errors.ts';
import { parseFileId } from '#shared/files/file-id.ts';
import type { Files } from '#shared/files/files.ts';
import type { ClientFormat, ClientRequest, ClientRoute } from '#shared/formats/client-format.ts';
import type { InputFile } from '#shared/formats/file-inputs.ts';
import { readInput } from './read-input.ts';

/** The files that requests may name, and the size limit of a request with its files. */
export interface InputFiles {
  files: Pick<Files, 'find' | 'read'>;
  /** Maximum bytes of a request with its files. */
  maxBytes: number;
  store: {
    /** @throws RouterError `store_unavailable` while the store is known to have lost its data */
    assertIntact: () => void;
  };
}

export interface InlineOptions {
  format: Pick<ClientFormat, 'read'>;
  operation: ClientRoute['operation'];
  owner: string;
  /** Called with the additional bytes of the request before they are read, and awaited. An error that it throws ends the request. */
  onBytes: (bytes: number) => void | Promise<void>;
}

/**
 * Replaces file ids in a request with the files. Ids that are not of this router stay, because an upstream of the same format may have
 * files with these ids.
 * @returns the same request if it names no file of this router
 * @throws RouterError `not_found` in the words of the format, `body_too_large`, `invalid_request` for a file that no model can read,
 * `store_unavailable`, or as `read` of the format does
 */
export async function inlineFiles(
  { files, maxBytes, store }: InputFiles,
  request: ClientRequest,
  { format, operation, owner, onBytes }: InlineOptions,
): Promise<ClientRequest> {
  const namedInputs = (request.files?.inputs ?? []).filter(({ id }) => parseFileId(id) !== undefined);
  if (!request.files || namedInputs.length === 0) return request;
  store.assertIntact();
  const contents = new Map<string, InputFile>();
  let left = maxBytes - request.withDefaults({}).length;
  for (const { id, param } of namedInputs) {
    const previous = contents.get(id);
    if (previous) {
      left = await countBytes(left, previous.content.length, onBytes);
      continue;
    }
    const file = await files.find(owner, parseFileId(id) ?? '');
    if (!file) throw request.files.notFound(id, param);
    // The expected length before the file is read, as base64. The length of a text may differ.
    const expected = Math.ceil((file.bytes * 4) / 3);
    left = await countBytes(left, expected, onBytes);
    contents.set(id, await readInput(files, file, { param, left: left + expected }));
  }
  const body = request.files.inline(contents);
  if (body.length > maxBytes) throw tooLargeError();
  return format.read(body, operation);
}

/** @returns the bytes that are left */
async function countBytes(left: number, bytes: number, onBytes: InlineOptions['onBytes']): Promise<number> {
  if (bytes > left) throw tooLargeError();
  await onBytes(bytes);
  return left - bytes;
}

function tooLargeError(): RouterError {
  return new RouterError('body_too_large', 'The request is too large with the files that it names.');
}
