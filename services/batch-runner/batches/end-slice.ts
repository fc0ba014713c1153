import { RunLaterError } from '#shared/background/background-worker.ts';
import type { BatchProblem, BatchRecord, LineOutcome } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { LineResult } from '#shared/accounts/batches/line-result.ts';
import type { Slice, SliceResults } from '#shared/accounts/batches/slice.ts';
import { OwnerGoneError } from '#shared/accounts/files/file-records.ts';
import { createStoreUnavailableError } from '#shared/store/redis/call-redis.ts';
import type { Sealer } from '#shared/core/seal.ts';
import type { BatchFormats } from '#shared/formats/batches/find-batch-formats.ts';
import type { Upload } from '#shared/files/files.ts';
import { readLine } from '../lines/read-line.ts';
import type { BatchDependencies } from './batch-dependencies.ts';
import { readInputLines } from './read-input-lines.ts';

/** Milliseconds after which a slice that has lost results is processed again. */
const repeatMs = 1_000;

interface EndingSlice {
  batch: BatchRecord;
  formats: BatchFormats;
  number: number;
  slice: Slice;
  sealer: Sealer;
}

/** Problem of a batch that has lost its input while lines had no result. Without the input, these lines cannot be named. */
const inputLostProblem: BatchProblem = {
  code: 'not_found',
  message: 'The input of the batch was lost: requests that were not run are in none of its files.',
};

/** File of the batch that a result line goes into. */
type Side = keyof SliceResults;
const sides: readonly Side[] = ['output', 'errors'];

/**
 * Writes the results of a slice into objects, and ends the slice. Lines that were not run get a result as well. Large results are in
 * objects already.
 * @param findStopOutcome returns the outcome of lines that were not run; undefined while they may still run
 * @throws RunLaterError if lines that may still run have no result, because Redis may have lost results in a failover
 */
export async function endSlice(
  parts: BatchDependencies,
  endingSlice: EndingSlice,
  findStopOutcome: () => Extract<LineOutcome, 'cancelled' | 'expired'> | undefined,
): Promise<void> {
  const { batches } = parts;
  const { batch, number, slice } = endingSlice;
  const { id } = batch;
  const place = { id, slice: number };
  for (;;) {
    const recorded = await batches.listRecordedLines(id, number);
    const stopOutcome = findStopOutcome();
    const missing = slice.lines - recorded.size;
    if (missing > 0 && !stopOutcome) throw new RunLaterError(repeatMs);
    const stoppedResults =
      missing > 0 && stopOutcome
        ? await createStoppedResults(parts, endingSlice, recorded, stopOutcome)
        : new Map<number, LineResult>();
    const counts = {
      recorded: recorded.size,
      cancelled: 0,
      expired: 0,
      ...(stopOutcome && { [stopOutcome]: missing }),
    };
    const uploads: Partial<Record<Side, Upload>> = {};
    const objectNames: SliceResults = { output: [], errors: [] };
    try {
      for (const side of sides) {
        const upload = await writeSide(parts, endingSlice, {
          recorded,
          stopped: stoppedResults,
          side,
          objectNames: objectNames[side],
        });
        if (upload) uploads[side] = upload;
      }
      const end = await batches.endSlice(
        place,
        counts,
        { ...uploads, lines: objectNames },
        stoppedResults ? undefined : inputLostProblem,
      );
      if (end === 'lapsed') throw createStoreUnavailableError(`the results of slice ${number} of ${id} took too long`);
      if (end !== 'changed') return;
    } catch (error) {
      // If another runner has ended the slice meanwhile, its results are no longer in Redis.
      if (!(await batches.readSliceResults(id, number))) throw error;
      return;
    } finally {
      for (const { discard } of Object.values(uploads)) await discard();
    }
  }
}

/** Returns the results of the lines that were not run; undefined if the input is lost. */
async function createStoppedResults(
  { objects, heavyWork }: BatchDependencies,
  { batch, formats, number, slice }: EndingSlice,
  recorded: ReadonlySet<number>,
  outcome: Extract<LineOutcome, 'cancelled' | 'expired'>,
): Promise<Map<number, LineResult> | undefined> {
  const pieces = await objects.get(batch.input ?? '', slice);
  if (!pieces) return undefined;
  const results = new Map<number, LineResult>();
  let line = 0;
  for await (const { bytes, heavyTask: task } of readInputLines({ heavyWork }, batch.id, pieces, slice)) {
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
  objectNames: string[];
}

/**
 * Stores the results of a slice for one file of the batch as an upload, which counts towards the owner's storage. The caller must discard
 * the upload. That removes the upload unless the ended slice refers to it.
 * @returns undefined if there are no results for the file, or if the owner is gone, so that nobody could read the results
 */
async function writeSide(
  { batches, files }: BatchDependencies,
  endingSlice: EndingSlice,
  results: SideResults,
): Promise<Upload | undefined> {
  const { batch, formats } = endingSlice;
  if (results.side === 'errors' && !formats.batch.hasErrorFile) return undefined;
  try {
    const lines = readLinesOfSide(batches, endingSlice, results);
    const upload = await files.receive(batch.owner, lines, { isResult: true });
    if (upload.bytes > 0) return upload;
    await upload.discard();
  } catch (error) {
    if (!(error instanceof OwnerGoneError)) throw error;
  }
  return undefined;
}

async function* readLinesOfSide(
  batches: BatchWork,
  { batch, number, slice, sealer, formats }: EndingSlice,
  { recorded, stopped, side, objectNames }: SideResults,
): AsyncGenerator<Uint8Array> {
  const belongsToSide = ({ outcome }: Pick<LineResult, 'outcome'>): boolean =>
    !formats.batch.hasErrorFile || (outcome === 'succeeded') === (side === 'output');
  const numbers = Array.from({ length: slice.lines }, (_, line) => line);
  const recordedNumbers = numbers.filter((line) => recorded.has(line));
  const recordedResults = batches.readResults(batch.id, number, recordedNumbers, sealer);
  for (const line of numbers) {
    if (!stopped && !recorded.has(line)) continue;
    const result = recorded.has(line) ? (await recordedResults.next()).value : stopped?.get(line);
    // Redis has lost the result, or it is sealed with a secret that is not set. No line may be missing from the files without an error.
    if (!result)
      throw createStoreUnavailableError(`the result of line ${line} of slice ${number} of ${batch.id} cannot be read`);
    if (!belongsToSide(result)) continue;
    if ('object' in result) objectNames.push(result.object);
    else yield Buffer.from(`${result.text}\n`);
  }
}
