import { RouterError } from '#shared/core/errors.ts';
import type { BatchFormat } from '#shared/formats/batches/batch-format.ts';
import { heavyBytes, type HeavyTask } from '../heavy-work.ts';

/** A line of a batch: its request, or the error of reading it. */
export type ReadLine = { customId: string } & ({ body: Buffer } | { error: RouterError });

/**
 * Reads a line of a validated batch. The checks may have changed since validation, for example through a lower size limit: then the error
 * becomes the result of this line, and no other line waits for it. The same applies to a line that two processes have ended with.
 * @throws RouterError `store_unavailable`
 */
export async function readLine(
  format: Pick<BatchFormat, 'readLine'>,
  bytes: Buffer,
  endpoint: string | undefined,
  heavy: HeavyTask,
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

/** Form of the `custom_id` in the text of a line, and the bytes searched for it. */
const idField = /"custom_id"\s*:\s*("(?:[^"\\]|\\.)*")/;
const maxIdBytes = 4_096;

/** Returns the first `custom_id` in a line; empty without one. Does not parse the line, because the line may be invalid JSON. */
function idIn(bytes: Buffer): string {
  const at = bytes.indexOf('"custom_id"');
  const [, id] = (at === -1 ? undefined : idField.exec(bytes.toString('utf8', at, at + maxIdBytes))) ?? [];
  try {
    return id === undefined ? '' : (JSON.parse(id) as string);
  } catch {
    return '';
  }
}
