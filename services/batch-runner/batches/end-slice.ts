import { randomBytes } from 'node:crypto';
import { LaterError } from '#shared/background/background-worker.ts';
import type { BatchRecord, LineOutcome } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork, LineResult, Slice, SliceResults } from '#shared/accounts/batches/batch-work.ts';
import { linesOf } from '#shared/formats/batches/lines-of.ts';
import { storeUnavailable } from '#shared/accounts/redis/ask-redis.ts';
import type { Sealer } from '#shared/core/seal.ts';
import type { BatchFormats } from '#shared/formats/batches/formats-of.ts';
import type { BatchParts } from './batch-parts.ts';

/** Results that are in memory at once. */
const resultsAtOnce = 10;

/** Milliseconds after which a slice is begun anew that has lost results. */
const againMs = 1_000;

interface EndingSlice {
  batch: BatchRecord;
  formats: BatchFormats;
  number: number;
  slice: Slice;
  sealer: Sealer;
}

/** The input of a batch that is not to be run any more is lost, so what its lines were cannot be said. */
export class InputLostError extends Error {}

/** Which file of the batch a line of its results belongs to. */
type Side = keyof SliceResults;

/**
 * Writes the results of a slice into objects, those of lines that were not run included, and ends it.
 * @param outcome what becomes of lines that were not run; undefined while they are to be
 * @throws LaterError if lines have no result and are to be run: Redis may have lost some in a failover; InputLostError
 */
export async function endSlice(
  parts: BatchParts,
  ending: EndingSlice,
  outcome: () => Extract<LineOutcome, 'cancelled' | 'expired'> | undefined,
): Promise<void> {
  const { work, objects } = parts;
  const { batch, number, slice } = ending;
  const { id } = batch;
  const place = { id, slice: number };
  for (;;) {
    const recorded = await work.recordedLines(id, number);
    const stop = outcome();
    const left = slice.lines - recorded.size;
    if (left > 0 && !stop) throw new LaterError(againMs);
    const lines = left > 0 && stop ? await stoppedLines(parts, ending, recorded, stop) : new Map<number, LineResult>();
    const results: SliceResults = {};
    for (const side of ['output', 'errors'] as const) {
      const name = await writeSide(parts, ending, recorded, lines, side);
      if (name !== undefined) results[side] = name;
    }
    const counts = { recorded: recorded.size, cancelled: 0, expired: 0, ...(stop && { [stop]: left }) };
    const end = await work.endSlice(place, counts, results);
    if (end === 'ended') return;
    const names = Object.values(results).filter((name) => name !== undefined);
    for (const name of names) await objects.delete(name);
    await work.forgetObjects(id, names);
    if (end === 'was over') return;
  }
}

/** The results of the lines that were not run. */
async function stoppedLines(
  { objects, maxLineBytes }: BatchParts,
  { batch, formats, number, slice }: EndingSlice,
  recorded: ReadonlySet<number>,
  outcome: Extract<LineOutcome, 'cancelled' | 'expired'>,
): Promise<Map<number, LineResult>> {
  const pieces = await objects.get(batch.input ?? '', slice);
  if (!pieces) throw new InputLostError();
  const results = new Map<number, LineResult>();
  let line = 0;
  for await (const { bytes } of linesOf(pieces, maxLineBytes, slice.from)) {
    if (!recorded.has(line)) {
      const { customId } = formats.batch.readLine(bytes, batch.endpoint);
      const text = formats.batch.stopped(customId, `${batch.id}_${number}_${line}`, outcome);
      results.set(line, { outcome: 'errored', text });
    }
    line += 1;
  }
  return results;
}

/** Writes one side of a slice's results into a new object. @returns its name; undefined if there are none */
async function writeSide(
  { work, objects }: BatchParts,
  ending: EndingSlice,
  recorded: ReadonlySet<number>,
  stopped: ReadonlyMap<number, LineResult>,
  side: Side,
): Promise<string | undefined> {
  const { batch, number, formats } = ending;
  if (side === 'errors' && !formats.batch.hasErrorFile) return undefined;
  const name = `${batch.id}-${number}-${side}-${randomBytes(6).toString('hex')}`;
  await work.noteObject(batch.id, name);
  const { bytes } = await objects.put(name, linesOfSide(work, ending, recorded, stopped, side));
  if (bytes > 0) return name;
  await objects.delete(name);
  await work.forgetObjects(batch.id, [name]);
  return undefined;
}

async function* linesOfSide(
  work: BatchWork,
  { batch, number, slice, sealer, formats }: EndingSlice,
  recorded: ReadonlySet<number>,
  stopped: ReadonlyMap<number, LineResult>,
  side: Side,
): AsyncGenerator<Uint8Array> {
  const belongs = ({ outcome }: LineResult): boolean =>
    !formats.batch.hasErrorFile || (outcome === 'succeeded') === (side === 'output');
  for (let from = 0; from < slice.lines; from += resultsAtOnce) {
    const numbers = Array.from({ length: Math.min(resultsAtOnce, slice.lines - from) }, (_, at) => from + at);
    const run = numbers.filter((line) => recorded.has(line));
    const found = new Map((await work.results(batch.id, number, run, sealer)).map((result, at) => [run[at], result]));
    for (const line of numbers) {
      const result = stopped.get(line) ?? found.get(line);
      // Redis has lost it, or it is sealed with a secret that is not set: a line must not be missing in silence.
      if (!result)
        throw storeUnavailable(`the result of line ${line} of slice ${number} of ${batch.id} cannot be read`);
      if (belongs(result)) yield Buffer.from(`${result.text}\n`);
    }
  }
}
