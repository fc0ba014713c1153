import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { Option } from 'commander';
import { toLocalFileError } from '../client/client-context.ts';
import { CallError } from '../client/call-error.ts';
import type { AdminContext } from './admin-context.ts';
import type { Query } from './admin-client.ts';

export interface FileOptions {
  format?: string;
  out?: string;
  json?: true;
}

export function createFormatOption(): Option {
  const description = 'format of the file; default: csv, or json with --json and without --out';
  return new Option('--format <format>', description).choices(['csv', 'json']);
}

export function readFormat({ format, out, json }: FileOptions): string {
  return format ?? (json && out === undefined ? 'json' : 'csv');
}

/**
 * Downloads a file of the Admin API into a new file on this machine, or to the standard output.
 * @param out path of the file; undefined: the standard output
 */
export async function downloadFile(
  { client, output, print, json }: AdminContext,
  path: string,
  query: Query,
  out: string | undefined,
): Promise<void> {
  const content = requireWhole(await client.open(path, query));
  if (out === undefined) {
    await pipeline(content, output, { end: false });
    return;
  }
  try {
    const file = await open(out, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    await pipeline(content, file.createWriteStream());
  } catch (error) {
    throw toLocalFileError(out, error);
  }
  print(json ? JSON.stringify({ written: out }) : `${out} is written.`);
}

/** Yields content unchanged, and throws an error for the user if the content is cut off. */
async function* requireWhole(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* content;
  } catch (cause) {
    throw new CallError(0, 'The file was cut off. Please try again.', { cause });
  }
}
