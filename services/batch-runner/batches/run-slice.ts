import { RunLaterError } from '#shared/background/background-worker.ts';
import { findStopReason, type BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import type { Slice } from '#shared/accounts/batches/slice.ts';
import { createStoreUnavailableError } from '#shared/store/redis/call-redis.ts';
import type { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import type { Sealer } from '#shared/core/seal.ts';
import { heavyBytes } from '../heavy-work.ts';
import type { ParkedBatches } from '../slots/parked-batches.ts';
import type { SliceJob } from '#shared/background/batch-jobs.ts';
import { findBatchFormats, type BatchFormats } from '#shared/formats/batches/find-batch-formats.ts';
import type { BatchDependencies } from './batch-dependencies.ts';
import { BatchWatch } from './batch-watch.ts';
import { endSlice } from './end-slice.ts';
import { readInputLines, type InputLine } from './read-input-lines.ts';
import { maxPauseMs, runSliceLine, type SliceLineParts } from './run-slice-line.ts';
import type { RunningLines } from './running-lines.ts';
import { SliceSlot, type SlicePause } from './slice-slot.ts';
import { NoRoomError, storeOrPause } from './store-or-pause.ts';

/** Milliseconds after which a slice is processed again when its runner stops. */
const stoppingMs = 100;

/** Milliseconds after which a slice is processed again when there was no memory for its line. */
const shortOfMemoryMs = 2_000;

export interface RunSliceParts extends BatchDependencies, Omit<SliceLineParts, 'files'> {
  parked: ParkedBatches;
  runningLines: RunningLines;
  ownerKeys: Pick<OwnerKeys, 'storeSealer'>;
}

interface RunningSlice {
  batch: BatchRecord;
  formats: BatchFormats;
  number: number;
  slice: Slice;
  sealer: Sealer;
}

/**
 * Runs the lines of a slice that have no result yet, as many at once as there are free slots, and records each result. Then writes all
 * results into objects and ends the slice. May be called again, and by several runners at the same time.
 * @throws RunLaterError if the runner stops, lines wait for a limit, or no line runs while other slices wait for a slice slot or for memory
 */
export async function runSlice(parts: RunSliceParts, { batch: id, slice: number }: SliceJob): Promise<void> {
  const { batches, stopping } = parts;
  const batch = await batches.find(id);
  if (batch?.state !== 'running' || (await batches.readSliceResults(id, number))) return;
  // Another slice has paused the batch, because a limit is exhausted.
  const pausedMs = (batch.blockedUntil ?? 0) - Date.now();
  if (pausedMs > 0 && findStopReason(batch) === undefined)
    throw new RunLaterError(parts.parked.block(id, number, pausedMs));
  const slice = await batches.readSlice(id, number);
  const formats = findBatchFormats(batch, parts.formats);
  if (!slice || !formats) throw createStoreUnavailableError(`slice ${number} of ${id} cannot be read`);
  const sealer = parts.ownerKeys.storeSealer(batch.owner);
  const delayMs = findStopReason(batch) === undefined ? parts.parked.admit(id, number) : undefined;
  if (delayMs !== undefined) throw new RunLaterError(delayMs);
  const runningSlice = { batch, formats, number, slice, sealer };
  let isOver = false;
  const watch = new BatchWatch({ batches, runningLines: parts.runningLines }, batch);
  try {
    const pauseMs = await runLines(parts, runningSlice, watch, AbortSignal.any([watch.signal, stopping]));
    if (stopping.aborted) throw new RunLaterError(stoppingMs);
    if (pauseMs !== undefined && watch.outcome === undefined) throw new RunLaterError(pauseMs);
    await storeOrPause(parts, id, () => endSlice(parts, runningSlice, () => watch.outcome));
    isOver = true;
  } catch (error) {
    if (!(error instanceof NoRoomError)) throw error;
    throw new RunLaterError(parts.parked.block(id, number, error.ms));
  } finally {
    watch.close();
    parts.parked.noteLeft(id, number, isOver);
  }
}

/**
 * Runs the lines that have no result until all have one, or the signal aborts.
 * @returns milliseconds after which the slice is to be processed again; undefined if no line waits
 */
async function runLines(
  parts: RunSliceParts,
  runningSlice: RunningSlice,
  watch: BatchWatch,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (signal.aborted) return undefined;
  const { batch, slice, number } = runningSlice;
  const recorded = await parts.batches.listRecordedLines(batch.id, number);
  if (recorded.size >= slice.lines) return undefined;
  // Results are stored even beyond the quota, so no line may start once the quota is exhausted.
  await storeOrPause(parts, batch.id, () => parts.files.assertRoom(batch.owner));
  // A line that exceeds the size of a slice has a slice of its own. Without a reservation, all slices could read such lines at once.
  const reservedBytes = slice.lines === 1 && slice.to - slice.from >= heavyBytes ? slice.to - slice.from : 0;
  const { requestBudget } = parts.lineParts;
  if (reservedBytes > 0 && !requestBudget.take(reservedBytes)) return shortOfMemoryMs;
  try {
    return await runRemainingLines(parts, { ...runningSlice, recorded, reservedBytes }, watch, signal);
  } finally {
    requestBudget.release(reservedBytes);
  }
}

interface RemainingLines extends RunningSlice {
  /** The lines of the slice that have a result. */
  recorded: ReadonlySet<number>;
  /** Bytes that are reserved for the only line of the slice while it runs; 0 for a small line, and for a slice with several lines. */
  reservedBytes: number;
}

/**
 * Runs the lines of a slice for which memory is reserved.
 * @returns as `runLines` does
 */
async function runRemainingLines(
  parts: RunSliceParts,
  runningSlice: RemainingLines,
  watch: BatchWatch,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { batch, slice, number, recorded } = runningSlice;
  const pieces = await parts.objects.get(batch.input ?? '', slice, signal);
  if (!pieces) throw createStoreUnavailableError(`the input of ${batch.id} is away`);
  const halt = new AbortController();
  const stops = { waiting: AbortSignal.any([signal, halt.signal]), running: signal };
  const { batches, jobs, parked } = parts;
  const { requestBudget } = parts.lineParts;
  let { refusals } = requestBudget;
  const isWanted = async (): Promise<boolean> => {
    // If memory was refused since the last call, other work needs the memory that waiting lines use.
    const isShort = requestBudget.refusals > refusals;
    ({ refusals } = requestBudget);
    return isShort || ((await jobs.countWaiting('batch-slices')) > 0 && (await batches.countAllOpen()) > 1);
  };
  const onLeave = (): void => halt.abort();
  const onPaused = (pause: SlicePause) => batches.setPause(batch.id, { ...pause, pausesAllLines: false });
  const { runningLines } = parts;
  const place = { batch: batch.id, slice: number };
  const sliceSlot = new SliceSlot({ ...place, runningLines, parked, isWanted, onPaused, onLeave });
  const openLines = new Set<Promise<void>>();
  let pauseMs: number | undefined;
  let failure: unknown;
  const beginLine = (line: number, text: InputLine): Promise<void> => {
    const { promise: placed, resolve: onPlaced } = Promise.withResolvers<void>();
    const slotLine = sliceSlot.addLine();
    const callbacks = {
      onPlaced,
      onRun: slotLine.ran,
      onWait: slotLine.wait,
      onGoOn: slotLine.goOn,
    };
    const run = async (): Promise<void> => {
      try {
        const end = await runSliceLine(parts, runningSlice, watch, line, text, stops, callbacks);
        if (end.kind !== 'pause') return;
        pauseMs = Math.min(end.ms, maxPauseMs);
        halt.abort();
        await parts.batches.setPause(batch.id, {
          until: Date.now() + pauseMs,
          reason: end.reason,
          pausesAllLines: true,
        });
      } catch (error) {
        failure ??= error;
        halt.abort();
      } finally {
        slotLine.end();
        onPlaced();
      }
    };
    const ended: Promise<void> = run().finally(() => openLines.delete(ended));
    openLines.add(ended);
    return placed;
  };
  let line = 0;
  try {
    // The size of lines is not limited here, because validation has checked the size, and the limit may have been lowered since.
    for await (const text of readInputLines(parts, batch.id, pieces, slice)) {
      // Besides the lines that run, only one line at a time waits for a slot.
      if (recorded.has(line)) text.heavyTask.end();
      else await beginLine(line, text);
      if (stops.waiting.aborted) break;
      line += 1;
    }
  } catch (error) {
    if (!signal.aborted) failure ??= error;
    halt.abort();
  }
  await Promise.all(openLines);
  sliceSlot.close();
  if (failure !== undefined) throw failure;
  return pauseMs === undefined ? sliceSlot.leaveMs : parked.block(batch.id, number, pauseMs);
}
