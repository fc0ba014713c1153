import { CallError } from '../client/call-error.ts';
import { writeContent } from '../client/write-content.ts';
import { findWriteTarget, standardStream } from '../client/write-target.ts';
import type { AdminContext } from './admin-context.ts';
import type { Query } from './admin-client.ts';

/**
 * Downloads a file of the Admin API into a new file on this machine, which only its owner can read, or to the standard output.
 * @param out path of the file; undefined: the standard output
 * @throws RouterError `invalid_request` if the file exists or cannot be written
 * @throws CallError
 */
export async function downloadFile(
  { client, output, print, json }: Pick<AdminContext, 'client' | 'output' | 'print' | 'json'>,
  path: string,
  query: Query,
  out: string = standardStream,
): Promise<void> {
  const target = await findWriteTarget(out, { force: false, hint: 'name another path with --out.' });
  await writeContent(requireWhole(await client.open(path, query)), { target, output, mode: 0o600 });
  if (target.kind === 'output') return;
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
