import type { BatchRecord } from '#shared/accounts/batches/batch-record.ts';
import type { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { LineResult } from '#shared/accounts/batches/line-result.ts';
import type { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Sealer } from '#shared/core/seal.ts';
import type { BatchFormats } from '#shared/formats/batches/find-batch-formats.ts';
import { AnswerMemory } from '../answer-memory.ts';
import { heavyBytes } from '../heavy-work.ts';
import type { BackgroundIdentities } from '../lines/background-identities.ts';
import { LineCharge } from '../lines/line-charge.ts';
import { readLine } from '../lines/read-line.ts';
import { recordThroughOutage } from '#shared/store/redis/record-through-outage.ts';
import { runLine, type LineEnd, type RunLineParts } from '../lines/run-line.ts';
import type { Answer, LineRequest, LineStops } from '../lines/try-line.ts';
import { storeResult, type StoredResult, type StoreResultParts } from '../lines/store-result.ts';
import type { BatchWatch } from './batch-watch.ts';
import type { InputLine } from './read-input-lines.ts';

/** Maximum milliseconds of a pause. After a pause, the runner checks whether the exhausted limit or the full store has room again. */
export const maxPauseMs = 30_000;

export interface SliceLineParts extends StoreResultParts {
  batches: BatchWork;
  lineParts: RunLineParts;
  identities: BackgroundIdentities;
  ledger: Pick<UsageLedger, 'createEntry'>;
  /** Called for every line that this runner has run; `isFirst` is false if the line had a result already. */
  countLine: (outcome: 'succeeded' | 'errored', isFirst: boolean) => void;
  log: Logger;
}

/** The properties of a slice that its lines use. */
interface LineSlice {
  batch: BatchRecord;
  formats: BatchFormats;
  /** Number of the slice in its batch. */
  number: number;
  sealer: Sealer;
  /** Bytes reserved for the line while it runs; 0 if the line is small or its slice has several lines. */
  reservedBytes: number;
}

/**
 * Runs a line of a slice, and records its result. A line that cannot be read gets an error as its result.
 * @param line position of the line in its slice, from 0
 * @returns how the line ended
 */
export async function runSliceLine(
  parts: SliceLineParts,
  { batch, formats, number, sealer, reservedBytes }: LineSlice,
  watch: Pick<BatchWatch, 'endPause' | 'readRecord'>,
  line: number,
  { bytes, number: numberInInput, heavyTask }: InputLine,
  stops: LineStops,
  callbacks: Pick<LineRequest, 'onPlaced' | 'onRun' | 'onWait' | 'onGoOn'>,
): Promise<LineEnd> {
  const { batches, lineParts, ledger } = parts;
  const { operation } = formats;
  const requestId = `${batch.id}_${number}_${line}`;
  const place = { id: batch.id, slice: number, line };
  const content = await readLine(formats.batch, bytes, batch.endpoint, heavyTask);
  const { customId } = content;
  const run = async (): Promise<LineEnd> => {
    if ('error' in content) return createUnreadableEnd(lineParts, content.error);
    const identity = await parts.identities.find(batch.key);
    if (!identity) return cancelForLostKey(parts, batch, watch);
    const request = { requestId, place, format: formats.line, operation, identity, body: content.body, heavyTask };
    return runLine(lineParts, { ...request, reservedBytes, knownModel: batch.knownModel, ...callbacks }, stops);
  };
  const end = await run();
  if (end.kind !== 'over') return end;
  const { answer, charge, memory } = end;
  let stored: StoredResult | undefined;
  try {
    const isHeavy = 'text' in answer && answer.text.length >= heavyBytes;
    const refusal = isHeavy ? await heavyTask.begin() : undefined;
    const finalAnswer = refusal ? { error: refusal } : answer;
    const result = toLineResult(formats, { customId, requestId, line: numberInInput }, finalAnswer);
    stored = await storeResult(parts, batch.owner, result, sealer);
    heavyTask.end();
    const { result: storable } = stored;
    const record = () => batches.recordLine(place, storable, charge.usage, ledger.createEntry(charge.records));
    const isFirst = await recordThroughOutage(record, parts.stopping);
    if (isFirst) charge.commit();
    parts.countLine(result.outcome, isFirst);
    if (isFirst && watch.endPause()) await batches.setPause(batch.id, undefined);
  } catch (error) {
    if (!isStoreFull(error)) throw error;
    return { kind: 'pause', ms: maxPauseMs, reason: error.message };
  } finally {
    heavyTask.end();
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

function toLineResult(
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
function isStoreFull(error: unknown): error is RouterError {
  return error instanceof RouterError && error.code === 'storage_full';
}

function createUnreadableEnd({ limits, priceOf, answerBudget }: RunLineParts, error: RouterError): LineEnd {
  return {
    kind: 'over',
    answer: { error },
    charge: new LineCharge(limits, priceOf),
    memory: new AnswerMemory(answerBudget),
  };
}

/** Cancels a batch whose key was revoked or has expired, or whose owner was blocked, and stops its slice. */
async function cancelForLostKey(
  { batches, log }: Pick<SliceLineParts, 'batches' | 'log'>,
  { id, key }: BatchRecord,
  watch: Pick<BatchWatch, 'readRecord'>,
): Promise<LineEnd> {
  if (await batches.cancel(id)) log.info({ batch: id, key }, 'a batch is cancelled: its key may not be used any more');
  await watch.readRecord();
  return { kind: 'stopped' };
}
