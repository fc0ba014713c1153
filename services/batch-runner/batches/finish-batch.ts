import { LaterError } from '#shared/background/background-worker.ts';
import type { BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import { OwnerGoneError } from '#shared/accounts/files/file-records.ts';
import type { SliceResults } from '#shared/accounts/batches/batch-work.ts';
import { storeUnavailable } from '#shared/accounts/redis/ask-redis.ts';
import type { BatchJob } from '#shared/background/batch-jobs.ts';
import type { BatchParts } from './batch-parts.ts';
import { releaseObjects } from './release-objects.ts';
import { waitForRoom } from './wait-for-room.ts';

/** Milliseconds until it is looked again whether all slices are over. */
const waitMs = 2_000;

/**
 * Joins the results of all slices into the files of the batch, and ends it. May be called again, and by others at the same time.
 * @throws LaterError while slices are not over
 */
export async function finishBatch(parts: BatchParts, { batch: id }: BatchJob): Promise<void> {
  const { work, log } = parts;
  let batch = await work.find(id);
  if (batch?.state === 'running') {
    if (batch.slicesLeft > 0) throw new LaterError(waitMs);
    await work.move(id, { from: 'running', to: 'finishing', timed: 'finishingAt' });
    batch = await work.find(id);
  }
  if (batch?.state === 'finishing') {
    const joining = batch;
    const fields = await waitForRoom(parts, id, () => joinSides(parts, joining));
    const isMine = await work.move(id, { from: 'finishing', to: 'ended', fields, timed: 'endedAt' });
    if (isMine) log.info({ batch: id }, 'a batch has ended');
    else await removeFiles(parts, joining, Object.values(fields));
    batch = await work.find(id);
  }
  if (batch?.state === 'ended' || batch?.state === 'failed') await cleanUp(parts, batch);
}

/**
 * Makes the files of a batch, all or none.
 * @returns their ids; undefined where the batch has no such results, or its owner is gone, so that nobody could read them
 */
async function joinSides(
  parts: BatchParts,
  batch: BatchRecord,
): Promise<{ outputFile: string | undefined; errorFile: string | undefined }> {
  let outputFile: string | undefined;
  try {
    outputFile = await joinSide(parts, batch, 'output');
    return { outputFile, errorFile: await joinSide(parts, batch, 'errors') };
  } catch (error) {
    await removeFiles(parts, batch, [outputFile]);
    if (!(error instanceof OwnerGoneError)) throw error;
    return { outputFile: undefined, errorFile: undefined };
  }
}

async function removeFiles({ files }: BatchParts, { owner }: BatchRecord, ids: readonly (string | undefined)[]) {
  for (const id of ids) if (id !== undefined) await files.remove(owner, id);
}

/** Removes what a batch that is over needs no more. */
async function cleanUp(parts: BatchParts, { id }: BatchRecord): Promise<void> {
  const { work, jobs } = parts;
  await releaseObjects(parts, id);
  await work.close(id);
  // Where the slices' jobs were lost, the one that was added with them waits for ever.
  await jobs.remove({ queue: 'batch-endings', id }).catch(() => undefined);
}

/** @returns the id of the file; undefined if the batch has no results of this side */
async function joinSide(
  { work, objects, files, resultsKeptMs }: BatchParts,
  batch: BatchRecord,
  side: keyof SliceResults,
): Promise<string | undefined> {
  const { id, owner, slices, outputSeconds } = batch;
  const results: string[] = [];
  for (let slice = 0; slice < slices; slice += 1) {
    const of = await work.resultsOf(id, slice);
    if (!of) throw storeUnavailable(`the results of slice ${slice} of ${id} cannot be read`);
    const name = of[side];
    if (name !== undefined) results.push(name);
  }
  if (results.length === 0) return undefined;
  const description = {
    purpose: 'batch_output',
    name: `${id}_${side}.jsonl`,
    mimeType: 'application/jsonl',
    expiresAfterMs: outputSeconds === undefined ? resultsKeptMs : outputSeconds * 1000,
  };
  const file = await files.add(owner, joined(), description, { isJoin: true });
  return file.id;

  async function* joined(): AsyncGenerator<Uint8Array> {
    for (const name of results) {
      const pieces = await objects.get(name);
      if (!pieces) throw storeUnavailable(`the object ${name} is away`);
      yield* pieces;
    }
  }
}
