import { RunLaterError } from '#shared/background/background-worker.ts';
import { stopReason, type BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import type { LineResult } from '#shared/accounts/batches/line-result.ts';
import type { Slice } from '#shared/accounts/batches/slice.ts';
import { storeUnavailable } from '#shared/accounts/redis/call-redis.ts';
import type { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import type { OwnerKeys } from '#shared/accounts/secrets/owner-keys.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Sealer } from '#shared/core/seal.ts';
import type { BackgroundIdentities } from '../lines/background-identities.ts';
import { LineCharge } from '../lines/line-charge.ts';
import { LineMemory } from '../lines/line-memory.ts';
import { recordThroughOutage } from '../lines/record-through-outage.ts';
import { heavyBytes } from '../heavy-work.ts';
import { readLine } from '../lines/read-line.ts';
import { storeResult, type StoredResult } from '../lines/store-result.ts';
import { runLine, type LineEnd, type LineRequest, type LineStops, type RunLineParts } from '../lines/run-line.ts';
import type { Answer } from '../lines/answer-sink.ts';
import type { ParkedBatches } from '../slots/parked-batches.ts';
import type { SliceJob } from '#shared/background/batch-jobs.ts';
import { findBatchFormats, type BatchFormats } from '#shared/formats/batches/find-batch-formats.ts';
import type { BatchParts } from './batch-parts.ts';
import { BatchWatch } from './batch-watch.ts';
import { endSlice } from './end-slice.ts';
import { readInputLines, type InputLine } from './input-lines.ts';
import type { RunningLines } from './running-lines.ts';
import { SliceSlot, type SlicePause } from './slice-slot.ts';
import { NoRoomError, pauseWithoutRoom } from './wait-for-room.ts';

/** Milliseconds after which a slice is processed again when its runner stops. */
const stoppingMs = 100;

/** Milliseconds after which a slice is processed again when there was no memory for its line. */
const shortOfMemoryMs = 2_000;

/** Longest time in milliseconds between two checks whether an exhausted limit allows requests again. */
const maxPauseMs = 30_000;

export interface RunSliceParts extends BatchParts {
  lines: RunLineParts;
  parked: ParkedBatches;
  running: RunningLines;
  identities: BackgroundIdentities;
  ledger: Pick<UsageLedger, 'createEntry'>;
  ownerKeys: Pick<OwnerKeys, 'storeSealer'>;
  /** Aborts when the runner stops. */
  stopping: AbortSignal;
  /** Called for every line that this runner has run; `isFirst` is false if the line had a result already. */
  countLine: (outcome: 'succeeded' | 'errored', isFirst: boolean) => void;
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
  const { work, stopping } = parts;
  const batch = await work.find(id);
  if (batch?.state !== 'running' || (await work.readSliceResults(id, number))) return;
  // Another slice has paused the batch, because a limit is exhausted.
  const pausedMs = (batch.blockedUntil ?? 0) - Date.now();
  if (pausedMs > 0 && stopReason(batch) === undefined)
    throw new RunLaterError(parts.parked.block(id, number, pausedMs));
  const slice = await work.readSlice(id, number);
  const formats = findBatchFormats(batch, parts.formats);
  const sealer = parts.ownerKeys.storeSealer(batch.owner);
  if (!slice || !formats || !sealer) throw storeUnavailable(`slice ${number} of ${id} cannot be read`);
  const outMs = stopReason(batch) === undefined ? parts.parked.admit(id, number) : undefined;
  if (outMs !== undefined) throw new RunLaterError(outMs);
  const running = { batch, formats, number, slice, sealer };
  let isOver = false;
  const watch = new BatchWatch({ work, running: parts.running }, batch);
  try {
    const pauseMs = await runLines(parts, running, watch, AbortSignal.any([watch.signal, stopping]));
    if (stopping.aborted) throw new RunLaterError(stoppingMs);
    if (pauseMs !== undefined && watch.outcome === undefined) throw new RunLaterError(pauseMs);
    await pauseWithoutRoom(parts, id, () => endSlice(parts, running, () => watch.outcome));
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
  running: RunningSlice,
  watch: BatchWatch,
  signal: AbortSignal,
): Promise<number | undefined> {
  if (signal.aborted) return undefined;
  const { batch, slice, number } = running;
  const recorded = await parts.work.recordedLines(batch.id, number);
  if (recorded.size >= slice.lines) return undefined;
  // Results are stored even beyond the quota, so no line may start once the quota is exhausted.
  await pauseWithoutRoom(parts, batch.id, () => parts.files.assertRoom(batch.owner));
  // A line larger than a slice has a slice of its own. Without a reservation, all slices of this process could read such lines at once.
  const reservedBytes = slice.lines === 1 && slice.to - slice.from >= heavyBytes ? slice.to - slice.from : 0;
  const { bodies } = parts.lines;
  if (reservedBytes > 0 && !bodies.take(reservedBytes)) return shortOfMemoryMs;
  try {
    return await runRemainingLines(parts, { ...running, recorded, reservedBytes }, watch, signal);
  } finally {
    bodies.release(reservedBytes);
  }
}

interface RemainingLines extends RunningSlice {
  /** The lines of the slice that have a result. */
  recorded: ReadonlySet<number>;
  /** Bytes of the slice's only line that are reserved while it runs; 0 if no line is larger than a slice. */
  reservedBytes: number;
}

/** @returns as `runLines` */
async function runRemainingLines(
  parts: RunSliceParts,
  running: RemainingLines,
  watch: BatchWatch,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { batch, slice, number, recorded } = running;
  const pieces = await parts.objects.get(batch.input ?? '', slice, signal);
  if (!pieces) throw storeUnavailable(`the input of ${batch.id} is away`);
  const halt = new AbortController();
  const stops = { waiting: AbortSignal.any([signal, halt.signal]), running: signal };
  const { work, jobs, parked } = parts;
  const { bodies } = parts.lines;
  let { refusals } = bodies;
  const isWanted = async (): Promise<boolean> => {
    // If memory was refused since the last call, other work needs the memory that waiting lines use.
    const isShort = bodies.refusals > refusals;
    ({ refusals } = bodies);
    return isShort || ((await jobs.countWaiting('batch-slices')) > 0 && (await work.countAllOpen()) > 1);
  };
  const onLeave = (): void => halt.abort();
  const onPaused = (pause: SlicePause) => work.pause(batch.id, { ...pause, isForAll: false });
  const ofBatch = { batch: batch.id, running: parts.running };
  const sliceSlot = new SliceSlot({ ...ofBatch, parked, slice: number, isWanted, onPaused, onLeave });
  const open = new Set<Promise<void>>();
  let pauseMs: number | undefined;
  let failure: unknown;
  const begin = (line: number, text: InputLine): Promise<void> => {
    const { promise: placed, resolve: onPlaced } = Promise.withResolvers<void>();
    const inSliceSlot = sliceSlot.begin();
    const on = {
      onPlaced,
      onRun: inSliceSlot.ran,
      onWait: inSliceSlot.wait,
      onGoOn: inSliceSlot.goOn,
    };
    const run = async (): Promise<void> => {
      try {
        const end = await runNumbered(parts, running, watch, line, text, stops, on);
        if (end?.kind !== 'pause') return;
        pauseMs = Math.min(end.ms, maxPauseMs);
        halt.abort();
        await parts.work.pause(batch.id, { until: Date.now() + pauseMs, reason: end.reason, isForAll: true });
      } catch (error) {
        failure ??= error;
        halt.abort();
      } finally {
        inSliceSlot.end();
        onPlaced();
      }
    };
    const ended: Promise<void> = run().finally(() => open.delete(ended));
    open.add(ended);
    return placed;
  };
  let line = 0;
  try {
    // The size of lines is not limited here, because validation has checked it, and the limit may have been lowered since.
    for await (const text of readInputLines(parts, batch.id, pieces, slice)) {
      // Besides the lines that run, only one line at a time waits for a slot.
      if (recorded.has(line)) text.heavy.end();
      else await begin(line, text);
      if (stops.waiting.aborted) break;
      line += 1;
    }
  } catch (error) {
    if (!signal.aborted) failure ??= error;
    halt.abort();
  }
  await Promise.all(open);
  sliceSlot.close();
  if (failure !== undefined) throw failure;
  return pauseMs === undefined ? sliceSlot.leaveMs : parked.block(batch.id, number, pauseMs);
}

async function runNumbered(
  parts: RunSliceParts,
  { batch, formats, number, sealer, reservedBytes }: RemainingLines,
  watch: Pick<BatchWatch, 'endPause' | 'look'>,
  line: number,
  { bytes, number: inInput, heavy }: InputLine,
  stops: LineStops,
  on: Pick<LineRequest, 'onPlaced' | 'onRun' | 'onWait' | 'onGoOn'>,
): Promise<LineEnd | undefined> {
  const { work, lines, ledger } = parts;
  const { operation } = formats;
  const requestId = `${batch.id}_${number}_${line}`;
  const place = { id: batch.id, slice: number, line };
  const read = await readLine(formats.batch, bytes, batch.endpoint, heavy);
  const { customId } = read;
  const run = async (): Promise<LineEnd> => {
    if ('error' in read) return endOfUnreadableLine(lines, read.error);
    const identity = await parts.identities.find(batch.key);
    if (!identity) return cancelForLostKey(parts, batch, watch);
    const request = { requestId, place, format: formats.line, operation, identity, body: read.body, heavy };
    return runLine(lines, { ...request, reservedBytes, knownModel: batch.knownModel, ...on }, stops);
  };
  const end = await run();
  if (end.kind !== 'over') return end;
  const { answer, charge, memory } = end;
  let stored: StoredResult | undefined;
  try {
    const isHeavy = 'text' in answer && answer.text.length >= heavyBytes;
    const setAside = isHeavy ? await heavy.begin() : undefined;
    const kept = setAside ? { error: setAside } : answer;
    const result = resultOf(formats, { customId, requestId, line: inInput }, kept);
    stored = await storeResult(parts, batch.owner, result, sealer);
    heavy.end();
    const { result: storable } = stored;
    const record = () => work.recordLine(place, storable, charge.usage, ledger.createEntry(charge.records));
    const isFirst = await recordThroughOutage(record, parts.stopping);
    if (isFirst) charge.commit();
    parts.countLine(result.outcome, isFirst);
    if (isFirst && watch.endPause()) await work.pause(batch.id, undefined);
  } catch (error) {
    if (!isFull(error)) throw error;
    return { kind: 'pause', ms: maxPauseMs, reason: error.message };
  } finally {
    heavy.end();
    charge.release();
    memory.release();
    await stored?.discard();
  }
  return end;
}

interface NamedLine {
  customId: string;
  requestId: string;
  /** Number of the line in the input, from 1, blank lines counted. */
  line: number;
}

function resultOf(
  { batch, line: format }: BatchFormats,
  { customId, requestId, line }: NamedLine,
  answer: Answer,
): LineResult {
  if ('text' in answer) return { outcome: 'succeeded', text: batch.toAnswerLine(customId, requestId, answer.text) };
  const text = batch.toErrorLine(customId, requestId, format.errorAnswer(answer.error, requestId));
  const { code } = answer.error;
  return { outcome: 'errored', text, error: { code, line } };
}

/** Returns whether an error means that the store has no room for a result. The line runs again once there is room. */
function isFull(error: unknown): error is RouterError {
  return error instanceof RouterError && error.code === 'storage_full';
}

function endOfUnreadableLine({ limits, priceOf, answerRoom }: RunLineParts, error: RouterError): LineEnd {
  return {
    kind: 'over',
    answer: { error },
    charge: new LineCharge(limits, priceOf),
    memory: new LineMemory(answerRoom),
  };
}

/** Cancels a batch whose key was revoked or has expired, or whose owner was blocked, and stops its slice. */
async function cancelForLostKey(
  { work, log }: Pick<RunSliceParts, 'work' | 'log'>,
  { id, key }: BatchRecord,
  watch: Pick<BatchWatch, 'look'>,
): Promise<LineEnd> {
  if (await work.cancel(id)) log.info({ batch: id, key }, 'a batch is cancelled: its key may not be used any more');
  await watch.look();
  return { kind: 'stopped' };
}
