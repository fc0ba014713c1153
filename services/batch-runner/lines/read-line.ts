import { RouterError } from '#shared/core/errors.ts';
import type { BatchFormat } from '#shared/formats/batches/batch-format.ts';
import { heavyBytes, type HeavyPiece } from '../heavy-work.ts';

/** A line of a batch: its request, or why it cannot be read. */
export type ReadLine = { customId: string } & ({ body: Buffer } | { error: RouterError });

/**
 * Reads a line of a batch that was validated. It may have been validated by a release that was less strict, or with a larger bound: then
 * the error is the result of that line, and holds up no other. So does one that two processes have ended with.
 * @throws RouterError `store_unavailable`
 */
export async function readLine(
  format: Pick<BatchFormat, 'readLine'>,
  bytes: Buffer,
  endpoint: string | undefined,
  heavy: HeavyPiece,
): Promise<ReadLine> {
  const setAside = bytes.length >= heavyBytes ? await heavy.begin() : undefined;
  try {
    if (setAside) throw setAside;
    return format.readLine(bytes, endpoint);
  } catch (error) {
    if (!(error instanceof RouterError)) throw error;
    return { customId: idIn(bytes), error };
  } finally {
    heavy.end();
  }
}

/** Where the `custom_id` of a line is, and bytes of the longest one. */
const idField = /"custom_id"\s*:\s*("(?:[^"\\]|\\.)*")/;
const maxIdBytes = 4_096;

/** The first `custom_id` in a line, whatever else it is; empty without one. The line is not parsed: that may be what is wrong with it. */
function idIn(bytes: Buffer): string {
  const at = bytes.indexOf('"custom_id"');
  const [, id] = (at === -1 ? undefined : idField.exec(bytes.toString('utf8', at, at + maxIdBytes))) ?? [];
  try {
    return id === undefined ? '' : (JSON.parse(id) as string);
  } catch {
    return '';
  }
}
