import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json } from '#shared/core/json.ts';
import type { BatchFormat } from '#shared/formats/batches/batch-format.ts';

/** A line of a batch: its request, or why it cannot be read. */
export type ReadLine = { customId: string } & ({ body: Buffer } | { error: RouterError });

/**
 * Reads a line of a batch that was validated. It may have been validated by a release that was less strict, or with a larger bound: then
 * the error is the result of that line, and holds up no other.
 */
export function readLine(format: Pick<BatchFormat, 'readLine'>, bytes: Buffer, endpoint: string | undefined): ReadLine {
  try {
    return format.readLine(bytes, endpoint);
  } catch (error) {
    if (!(error instanceof RouterError)) throw error;
    return { customId: idIn(bytes), error };
  }
}

/** The `custom_id` of a line, whatever else it is; empty without one. */
function idIn(bytes: Buffer): string {
  try {
    const line = JSON.parse(bytes.toString()) as Json;
    const id = isJsonObject(line) ? line['custom_id'] : undefined;
    return typeof id === 'string' ? id : '';
  } catch {
    return '';
  }
}
