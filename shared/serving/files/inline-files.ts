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
  /** Called with a number of additional bytes before these bytes are read. Awaited. A thrown error ends the request. */
  onBytes: (bytes: number) => void | Promise<void>;
}

/**
 * Replaces file ids in a request with the files. Ids of other servers stay, because an upstream of the same format may have files with
 * these ids.
 * @returns the same request if it names no file of this router
 * @throws RouterError `not_found` in the wording of the format, `body_too_large`, `invalid_request` for a file that no model can read,
 * `store_unavailable`, or an error of the format's `read`
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
  let bytesLeft = maxBytes - request.withDefaults({}).length;
  const count = async (bytes: number, param?: string): Promise<void> => {
    if (bytes > bytesLeft) throw createTooLargeError(param);
    await onBytes(bytes);
    bytesLeft -= bytes;
  };
  for (const { id, param } of namedInputs) {
    const knownFile = contents.get(id);
    if (knownFile) {
      await count(knownFile.content.length);
      continue;
    }
    const file = await files.find(owner, parseFileId(id) ?? '');
    if (!file) throw request.files.notFound(id, param);
    // The length of the file as base64. Escapes can make a text longer.
    const countedBytes = Math.ceil((file.bytes * 4) / 3);
    await count(countedBytes);
    const onMore = (bytes: number): Promise<void> => count(bytes, param);
    contents.set(id, await readInput(files, file, { param, countedBytes, onMore }));
  }
  const body = request.files.inline(contents);
  if (body.length > maxBytes) throw createTooLargeError();
  return format.read(body, operation);
}

function createTooLargeError(param?: string): RouterError {
  return new RouterError('body_too_large', 'The request is too large with the files that it names.', { param });
}
