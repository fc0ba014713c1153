import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { RouterError } from '#shared/core/errors.ts';
import { toLocalFileError, type ClientContext } from './client-context.ts';
import { isStream, standardStream } from './write-target.ts';

/** A file on this machine to upload, which can be read more than once. */
export interface LocalInput {
  path: string;
  /** Name of the file at the router. */
  name: string;
  /** Name of the file in messages to the user. */
  displayName: string;
}

/** Name at the router for input that has no file name. */
const pipedName = 'piped';

/**
 * Calls a function with the file that a user names. Input that can be read only once, such as a pipe, a device or the standard input (`-`),
 * is copied into a temporary file first.
 * @throws RouterError `invalid_request` for a file that cannot be read
 */
export async function withInput<Result>(
  { input }: Pick<ClientContext, 'input'>,
  path: string,
  use: (input: LocalInput) => Promise<Result>,
): Promise<Result> {
  const isStandardInput = path === standardStream || path === '/dev/stdin';
  const isReadOnce = isStandardInput || isStream(await stat(path).catch(refuseFile(path)));
  if (!isReadOnce) return use({ path, name: basename(path), displayName: path });
  const displayName = isStandardInput ? 'the standard input' : path;
  const folder = await mkdtemp(join(tmpdir(), 'rtr-input-')).catch(refuseFile(tmpdir()));
  try {
    const copy = join(folder, pipedName);
    await pipeline(isStandardInput ? input : createReadStream(path), createWriteStream(copy, { mode: 0o600 })).catch(
      refuseFile(displayName),
    );
    if ((await stat(copy)).size === 0) throw new RouterError('invalid_request', `${displayName} is empty.`);
    return await use({ path: copy, name: pipedName, displayName });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function refuseFile(path: string): (error: unknown) => never {
  return (error) => {
    throw toLocalFileError(path, error);
  };
}
