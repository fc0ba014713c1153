import { LaterError } from '#shared/background/background-worker.ts';
import type { BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import { OwnerGoneError, type FileRecord } from '#shared/accounts/files/file-records.ts';
import type { BatchMove, SliceResults } from '#shared/accounts/batches/batch-work.ts';
import { storeUnavailable } from '#shared/accounts/redis/ask-redis.ts';
import type { BatchJob } from '#shared/background/batch-jobs.ts';
import type { Upload } from '#shared/files/files.ts';
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
    const joined = await waitForRoom(parts, id, () => joinSides(parts, joining));
    try {
      const isMine = await work.move(id, endOf(joining, joined, parts.resultsKeptMs));
      if (isMine) {
        log.info({ batch: id }, 'a batch has ended');
        for (const { noteKept } of Object.values(joined)) noteKept();
      }
    } finally {
      await discardAll(joined);
    }
    batch = await work.find(id);
  }
  if (batch?.state === 'ended' || batch?.state === 'failed') await cleanUp(parts, batch);
}

/** The uploads that become the files of a batch; none where it has no such results. */
type JoinedSides = Partial<Record<keyof SliceResults, Upload>>;

/** The move that ends a batch, and makes its files of the uploads: a runner that dies before it leaves no file. */
function endOf({ id, outputSeconds }: BatchRecord, { output, errors }: JoinedSides, resultsKeptMs: number): BatchMove {
  const expiresAfterMs = outputSeconds === undefined ? resultsKeptMs : outputSeconds * 1000;
  const fileOf = (upload: Upload | undefined, side: keyof SliceResults): FileRecord | undefined =>
    upload?.describe({
      purpose: 'batch_output',
      name: `${id}_${side}.jsonl`,
      mimeType: 'application/jsonl',
      expiresAfterMs,
    });
  const outputFile = fileOf(output, 'output');
  const errorFile = fileOf(errors, 'errors');
  return {
    from: 'finishing',
    to: 'ended',
    timed: 'endedAt',
    fields: { outputFile: outputFile?.id, errorFile: errorFile?.id },
    files: [outputFile, errorFile].filter((file) => file !== undefined),
  };
}

/** Stores what the files of a batch are made of. @returns nothing if its owner is gone, so that nobody could read them */
async function joinSides(parts: BatchParts, batch: BatchRecord): Promise<JoinedSides> {
  const joined: JoinedSides = {};
  try {
    for (const side of ['output', 'errors'] as const) {
      const upload = await joinSide(parts, batch, side);
      if (upload) joined[side] = upload;
    }
    return joined;
  } catch (error) {
    await discardAll(joined);
    if (!(error instanceof OwnerGoneError)) throw error;
    return {};
  }
}

/** Removes what has not become a file. */
async function discardAll(joined: JoinedSides): Promise<void> {
  for (const { discard } of Object.values(joined)) await discard();
}

/** Removes what a batch that is over needs no more. */
async function cleanUp(parts: BatchParts, { id }: BatchRecord): Promise<void> {
  const { work, jobs } = parts;
  await releaseObjects(parts, id);
  await work.close(id);
  // Where the slices' jobs were lost, the one that was added with them waits for ever.
  await jobs.remove({ queue: 'batch-endings', id }).catch(() => undefined);
}

/** @returns undefined if the batch has no results of this side */
async function joinSide(
  { work, objects, files }: BatchParts,
  { id, owner, slices }: BatchRecord,
  side: keyof SliceResults,
): Promise<Upload | undefined> {
  const results: string[] = [];
  for (let slice = 0; slice < slices; slice += 1) {
    const of = await work.resultsOf(id, slice);
    if (!of) throw storeUnavailable(`the results of slice ${slice} of ${id} cannot be read`);
    const name = of[side];
    if (name !== undefined) results.push(name);
  }
  if (results.length === 0) return undefined;
  return files.receive(owner, joined(), { isJoin: true });

  async function* joined(): AsyncGenerator<Uint8Array> {
    for (const name of results) {
      const pieces = await objects.get(name);
      if (!pieces) throw storeUnavailable(`the object ${name} is away`);
      yield* pieces;
    }
  }
}
