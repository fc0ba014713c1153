import { RunLaterError } from '#shared/background/background-worker.ts';
import type { BatchProblem, BatchRecord, LineOutcome } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { LineResult } from '#shared/accounts/batches/line-result.ts';
import type { Slice, SliceResults } from '#shared/accounts/batches/slice.ts';
import { OwnerGoneError } from '#shared/accounts/files/file-records.ts';
import { storeUnavailable } from '#shared/accounts/redis/call-redis.ts';
import type { Sealer } from '#shared/core/seal.ts';
import type { BatchFormats } from '#shared/formats/batches/find-batch-formats.ts';
import type { Upload } from '#shared/files/files.ts';
import { readLine } from '../lines/read-line.ts';
import type { BatchParts } from './batch-parts.ts';
import { readInputLines } from './input-lines.ts';

/** Milliseconds after which a slice that has lost results is processed again. */
const repeatMs = 1_000;

interface EndingSlice {
  batch: BatchRecord;
  formats: BatchFormats;
  number: number;
  slice: Slice;
  sealer: Sealer;
}

/** Problem of a batch that has lines without a result, but has lost its input, so that nothing shows what these lines were. */
const inputLost: BatchProblem = {
  code: 'not_found',
  message: 'The input of the batch was lost: requests that were not run are in none of its files.',
};

/** File of the batch that a result line goes into. */
type Side = keyof SliceResults;
const sides: readonly Side[] = ['output', 'errors'];

/**
 * Writes the results of a slice into objects, including those of lines that were not run, and ends the slice. Large results are in objects
 * already.
 * @param outcome returns the outcome of lines that were not run; undefined while they may still run
 * @throws RunLaterError if lines that may still run have no result, because Redis may have lost results in a failover
 */
export async function endSlice(
  parts: BatchParts,
  ending: EndingSlice,
  outcome: () => Extract<LineOutcome, 'cancelled' | 'expired'> | undefined,
): Promise<void> {
  const { work } = parts;
  const { batch, number, slice } = ending;
  const { id } = batch;
  const place = { id, slice: number };
  for (;;) {
    const recorded = await work.recordedLines(id, number);
    const stop = outcome();
    const left = slice.lines - recorded.size;
    if (left > 0 && !stop) throw new RunLaterError(repeatMs);
    const lines = left > 0 && stop ? await stoppedLines(parts, ending, recorded, stop) : new Map<number, LineResult>();
    const counts = { recorded: recorded.size, cancelled: 0, expired: 0, ...(stop && { [stop]: left }) };
    const uploads: Partial<Record<Side, Upload>> = {};
    const large: SliceResults = { output: [], errors: [] };
    try {
      for (const side of sides) {
        const upload = await writeSide(parts, ending, { recorded, stopped: lines, side, large: large[side] });
        if (upload) uploads[side] = upload;
      }
      const end = await work.endSlice(place, counts, { ...uploads, lines: large }, lines ? undefined : inputLost);
      if (end === 'lapsed') throw storeUnavailable(`the results of slice ${number} of ${id} took too long`);
      if (end !== 'changed') return;
    } catch (error) {
      // If another runner has ended the slice meanwhile, its results are no longer in Redis.
      if (!(await work.readSliceResults(id, number))) throw error;
      return;
    } finally {
      for (const { discard } of Object.values(uploads)) await discard();
    }
  }
}

/** Returns the results of the lines that were not run; undefined if the input is lost. */
async function stoppedLines(
  { objects, heavy }: BatchParts,
  { batch, formats, number, slice }: EndingSlice,
  recorded: ReadonlySet<number>,
  outcome: Extract<LineOutcome, 'cancelled' | 'expired'>,
): Promise<Map<number, LineResult> | undefined> {
  const pieces = await objects.get(batch.input ?? '', slice);
  if (!pieces) return undefined;
  const results = new Map<number, LineResult>();
  let line = 0;
  for await (const { bytes, heavy: task } of readInputLines({ heavy }, batch.id, pieces, slice)) {
    if (recorded.has(line)) task.end();
    else {
      const requestId = `${batch.id}_${number}_${line}`;
      const { customId } = await readLine(formats.batch, bytes, batch.endpoint, task);
      const text = formats.batch.toUnfinishedLine(customId, requestId, outcome);
      results.set(line, { outcome: 'errored', text });
    }
    line += 1;
  }
  return results;
}

interface SideResults {
  recorded: ReadonlySet<number>;
  /** Results of the lines that were not run; undefined if the input is lost. */
  stopped: ReadonlyMap<number, LineResult> | undefined;
  side: Side;
  /** Receives the names of results that are in objects already. */
  large: string[];
}

/**
 * Stores one side of a slice's results as an upload. The upload counts towards the owner's storage. It is removed unless the slice ends
 * with it.
 * @returns undefined if this side has no results, or if the owner is gone, so that nobody could read them
 */
async function writeSide(
  { work, files }: BatchParts,
  ending: EndingSlice,
  results: SideResults,
): Promise<Upload | undefined> {
  const { batch, formats } = ending;
  if (results.side === 'errors' && !formats.batch.hasErrorFile) return undefined;
  try {
    const lines = linesOfSide(work, ending, results);
    const upload = await files.receive(batch.owner, lines, { isResult: true });
    if (upload.bytes > 0) return upload;
    await upload.discard();
  } catch (error) {
    if (!(error instanceof OwnerGoneError)) throw error;
  }
  return undefined;
}

async function* linesOfSide(
  work: BatchWork,
  { batch, number, slice, sealer, formats }: EndingSlice,
  { recorded, stopped, side, large }: SideResults,
): AsyncGenerator<Uint8Array> {
  const belongs = ({ outcome }: Pick<LineResult, 'outcome'>): boolean =>
    !formats.batch.hasErrorFile || (outcome === 'succeeded') === (side === 'output');
  const numbers = Array.from({ length: slice.lines }, (_, line) => line);
  const run = numbers.filter((line) => recorded.has(line));
  const found = work.results(batch.id, number, run, sealer);
  for (const line of numbers) {
    if (!stopped && !recorded.has(line)) continue;
    const result = recorded.has(line) ? (await found.next()).value : stopped?.get(line);
    // Redis has lost the result, or it is sealed with a secret that is not set. No line may be missing from the files without an error.
    if (!result) throw storeUnavailable(`the result of line ${line} of slice ${number} of ${batch.id} cannot be read`);
    if (!belongs(result)) continue;
    if ('object' in result) large.push(result.object);
    else yield Buffer.from(`${result.text}\n`);
  }
}
