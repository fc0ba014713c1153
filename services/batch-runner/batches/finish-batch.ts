import { RunLaterError } from '#shared/background/background-worker.ts';
import { findStopReason, isOver, type BatchProblem, type BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import { OwnerGoneError, type FileRecord } from '#shared/accounts/files/file-records.ts';
import type { BatchMove } from '#shared/accounts/batches/batch-record.ts';
import type { SliceResults } from '#shared/accounts/batches/slice.ts';
import { createStoreUnavailableError } from '#shared/store/redis/call-redis.ts';
import type { BatchJob } from '#shared/background/batch-jobs.ts';
import type { Upload } from '#shared/files/files.ts';
import type { BatchDependencies } from './batch-dependencies.ts';
import { releaseObjects } from './release-objects.ts';
import { storeOrPause } from './store-or-pause.ts';

/** Problem of a batch that has lost results and is cancelled or out of time. */
const resultsLostProblem: BatchProblem = {
  code: 'not_found',
  message: 'Results of the batch were lost: they are in none of its files.',
};

/** Milliseconds until the next check whether all slices are over. */
const waitMs = 2_000;

/**
 * Joins the results of all slices into the files of the batch, and ends it. May be called again, and by several runners at the same time.
 * If the owner has removed the batch meanwhile, removes what is left of it.
 * @throws RunLaterError while slices are not over, or while there is no room for the files
 */
export async function finishBatch(parts: BatchDependencies, { batch: id }: BatchJob): Promise<void> {
  const { batches, log } = parts;
  let batch = await batches.find(id);
  if (batch?.state === 'running') {
    if (batch.slicesLeft > 0) throw new RunLaterError(waitMs);
    await batches.move(id, { from: 'running', to: 'finishing', timed: 'finishingAt' });
    batch = await batches.find(id);
  }
  if (batch?.state === 'finishing') {
    const finishingBatch = batch;
    const joined = await storeOrPause(parts, id, () => joinSides(parts, finishingBatch));
    try {
      const hasEnded = await batches.move(id, createEndMove(finishingBatch, joined, parts.resultsKeptMs));
      if (hasEnded) {
        log.info({ batch: id }, 'a batch has ended');
        for (const { countStored } of Object.values(joined.uploads)) countStored();
      }
    } finally {
      await discardUploads(joined);
    }
    batch = await batches.find(id);
  }
  if (!batch || isOver(batch)) await cleanUp(parts, id, batch);
}

interface JoinedResults {
  /** Contains no upload for a file without results. */
  uploads: Partial<Record<keyof SliceResults, Upload>>;
  /** Whether results were left out because they cannot be read. */
  isIncomplete: boolean;
}

/**
 * Returns the move that ends a batch. The move turns the uploads into the files of the batch in the same step, so that a runner that dies
 * before this step leaves no file.
 */
function createEndMove(
  { id, outputSeconds, problems = [] }: BatchRecord,
  { uploads: { output, errors }, isIncomplete }: JoinedResults,
  resultsKeptMs: number,
): BatchMove {
  const expiresAfterMs = outputSeconds === undefined ? resultsKeptMs : outputSeconds * 1000;
  const describeFile = (upload: Upload | undefined, side: keyof SliceResults): FileRecord | undefined =>
    upload?.describe({
      purpose: 'batch_output',
      name: `${id}_${side}.jsonl`,
      mimeType: 'application/jsonl',
      expiresAfterMs,
    });
  const outputFile = describeFile(output, 'output');
  const errorFile = describeFile(errors, 'errors');
  return {
    from: 'finishing',
    to: 'ended',
    timed: 'endedAt',
    fields: {
      outputFile: outputFile?.id,
      errorFile: errorFile?.id,
      ...(isIncomplete && { problems: [...problems, resultsLostProblem] }),
    },
    files: [outputFile, errorFile].filter((file) => file !== undefined),
  };
}

/**
 * Stores the joined results.
 * @returns no uploads if the owner is gone, so that nobody could read them
 */
async function joinSides(parts: BatchDependencies, batch: BatchRecord): Promise<JoinedResults> {
  const joined: JoinedResults = { uploads: {}, isIncomplete: false };
  try {
    for (const side of ['output', 'errors'] as const) await joinSide(parts, batch, side, joined);
    return joined;
  } catch (error) {
    await discardUploads(joined);
    if (!(error instanceof OwnerGoneError)) throw error;
    return { uploads: {}, isIncomplete: false };
  }
}

/** Removes the uploads that have not become files. */
async function discardUploads({ uploads }: JoinedResults): Promise<void> {
  for (const { discard } of Object.values(uploads)) await discard();
}

/**
 * Releases the objects of a batch that is over, closes the batch, and removes its ending job.
 * @param batch undefined if the batch was removed
 */
async function cleanUp(parts: BatchDependencies, id: string, batch: BatchRecord | undefined): Promise<void> {
  const { batches, jobs } = parts;
  await releaseObjects(parts, id);
  await (batch ? batches.close(id) : batches.drop(id));
  // If the slices' jobs were lost, the ending job that was added with them would wait for ever.
  await jobs.remove({ queue: 'batch-endings', id }).catch(() => undefined);
}

/**
 * Joins the results for one file of the batch, if there are any. Once the batch is cancelled or out of time, objects and results of slices
 * that cannot be read are left out.
 * @throws RouterError `store_unavailable` if an object or the results of a slice cannot be read while the batch still has time
 */
async function joinSide(
  { batches, objects, files }: BatchDependencies,
  batch: BatchRecord,
  side: keyof SliceResults,
  joined: JoinedResults,
): Promise<void> {
  const { id, owner, slices } = batch;
  const objectNames: string[] = [];
  for (let slice = 0; slice < slices; slice += 1) {
    const sliceResults = await batches.readSliceResults(id, slice);
    if (sliceResults) objectNames.push(...sliceResults[side]);
    else leaveOut(`the results of slice ${slice} of ${id} cannot be read`);
  }
  if (objectNames.length === 0) return;
  const upload = await files.receive(owner, readLines(), { isJoin: true });
  if (upload.bytes > 0) joined.uploads[side] = upload;
  else await upload.discard();

  async function* readLines(): AsyncGenerator<Uint8Array> {
    for (const name of objectNames) {
      const pieces = await objects.get(name);
      if (pieces) yield* pieces;
      else leaveOut(`the object ${name} is away`);
    }
  }

  function leaveOut(reason: string): void {
    if (findStopReason(batch) === undefined) throw createStoreUnavailableError(reason);
    joined.isIncomplete = true;
  }
}
