import { RouterError } from '#shared/core/errors.ts';
import { writeExactInPieces } from '#shared/core/exact-numbers.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { BatchFormat } from '#shared/formats/batches/batch-format.ts';
import { heavyBytes, type HeavyTask } from '../heavy-work.ts';

/** Content of a line of a batch: its request, or the error that makes it unreadable. */
export type LineContent = { customId: string } & ({ body: Buffer } | { error: RouterError });

/**
 * Reads a line of a validated batch. A line that was valid may be invalid by now, for example because the size limit was lowered. The
 * error then becomes the result of the line. If two processes died while they read the line, the error is `workers_died`.
 * @throws RouterError `store_unavailable`
 */
export async function readLine(
  format: Pick<BatchFormat, 'readLine'>,
  bytes: Buffer,
  endpoint: string | undefined,
  heavyTask: HeavyTask,
): Promise<LineContent> {
  const refusal = bytes.length >= heavyBytes ? await heavyTask.begin() : undefined;
  try {
    if (refusal) throw refusal;
    const { customId, request } = format.readLine(bytes, endpoint);
    return { customId, body: writeBody(request, bytes.length) };
  } catch (error) {
    if (!(error instanceof RouterError)) throw error;
    return { customId: findCustomId(bytes), error };
  } finally {
    heavyTask.end();
  }
}

/** @param lineBytes bytes of the line; a request of a large line is written in pieces, because its whole text would take too much memory */
function writeBody(request: JsonObject, lineBytes: number): Buffer {
  if (lineBytes < heavyBytes) return Buffer.from(JSON.stringify(request));
  const pieces: Buffer[] = [];
  writeExactInPieces(request, (piece) => pieces.push(Buffer.from(piece)));
  return Buffer.concat(pieces);
}

/** Matches the field `custom_id` in the text of a line. */
const customIdPattern = /"custom_id"\s*:\s*("(?:[^"\\]|\\.)*")/;
/** Number of bytes that `customIdPattern` is matched against, from the name of the field on. */
const maxIdBytes = 4_096;

/** Returns the first `custom_id` in a line; `''` if there is none. Does not parse the line, because the line may be invalid JSON. */
function findCustomId(bytes: Buffer): string {
  const at = bytes.indexOf('"custom_id"');
  const [, id] = (at === -1 ? undefined : customIdPattern.exec(bytes.toString('utf8', at, at + maxIdBytes))) ?? [];
  try {
    return id === undefined ? '' : (JSON.parse(id) as string);
  } catch {
    return '';
  }
}
