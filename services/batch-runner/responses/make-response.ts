import type { BackgroundRecord } from '#shared/accounts/responses/background/background-record.ts';
import { isOver } from '#shared/accounts/responses/background/background-record.ts';
import { JournalWriter, type JournalEntry } from '#shared/store/answer-journal/journal-writer.ts';
import type { AnswerChanges } from '#shared/store/answer-journal/answer-changes.ts';
import type { ResponseWork } from '#shared/accounts/responses/background/response-work.ts';
import type { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { createStoreUnavailableError } from '#shared/store/redis/call-redis.ts';
import type { StoredResponses } from '#shared/accounts/responses/stored/stored-responses.ts';
import { RunLaterError } from '#shared/background/background-worker.ts';
import type { ResponseJob } from '#shared/background/response-jobs.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { Logger } from '#shared/core/log.ts';
import type { BackgroundAnswers, EndingEvent } from '#shared/formats/background-answers.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { AnswerToStore } from '#shared/serving/stored/resolve-stored.ts';
import { decideAfterError } from '../lines/decide-after-error.ts';
import { LineCharge } from '../lines/line-charge.ts';
import type { BackgroundIdentities } from '../lines/background-identities.ts';
import { recordThroughOutage } from '#shared/store/redis/record-through-outage.ts';
import { AnswerMemory } from '../answer-memory.ts';
import type { OwnerPlaces } from './owner-places.ts';
import { RunWatch } from './run-watch.ts';
import { heavyBytes, type HeavyTask, type HeavyWork } from '../heavy-work.ts';
import type { StoreQueueBudget } from '#shared/serving/stored/store-queue-budget.ts';
import { asResponseRequest, serveRun, type RunEnd, type ServeRunParts } from './serve-run.ts';

const noBytes = Buffer.alloc(0);

/** Milliseconds after which a response is started again when its runner stops. */
const stoppingMs = 100;

export interface MakeResponseParts {
  responses: ResponseWork;
  changes: Pick<AnswerChanges, 'watch'>;
  stored: Pick<StoredResponses, 'prepare'>;
  formats: readonly ClientFormat[];
  identities: BackgroundIdentities;
  heavyWork: Pick<HeavyWork, 'createTask'>;
  ownerPlaces: Pick<OwnerPlaces, 'take' | 'release'>;
  ledger: Pick<UsageLedger, 'createEntry'>;
  serving: Omit<ServeRunParts, 'record'>;
  /** Bounds the memory of all events that wait to be written. */
  eventBudget: Pick<StoreQueueBudget, 'openShare'>;
  /** Number of failed runs after which the response fails. Runs that fail because workers, limits or stores are missing do not count. */
  maxTries: number;
  /** Aborts when the runner stops. */
  stopping: AbortSignal;
  /** Called with every response that this process has ended. */
  countResponse: (state: EndingEvent['state']) => void;
  log: Pick<Logger, 'info' | 'warn'>;
}

interface RunningResponse {
  record: BackgroundRecord;
  format: ClientFormat & { background: BackgroundAnswers };
  queued: JsonObject;
  runId: string;
  heavyTask: HeavyTask;
}

/**
 * Makes a response: serves its request, writes the events of the stream as they come, and ends the response. May be called again, and by
 * several runners at the same time. In that case, the run that began last continues, and the other runs stop.
 * @throws RunLaterError if the runner stops, the owner has its share of places, or the run failed and the response is to be tried again
 */
export async function makeResponse(parts: MakeResponseParts, { response: id }: ResponseJob): Promise<void> {
  const { responses, formats, stopping } = parts;
  if (stopping.aborted) throw new RunLaterError(stoppingMs);
  const record = await responses.find(id);
  if (!record || isOver(record)) return;
  const format = formats.find(({ name }) => name === record.format);
  if (!format?.background) throw createStoreUnavailableError(`the response ${id} cannot be read`);
  parts.ownerPlaces.take(record.owner, id);
  const heavyTask = parts.heavyWork.createTask(id);
  try {
    const deathError = record.requestBytes >= heavyBytes ? await heavyTask.begin() : undefined;
    const texts = await responses.readTexts(record, !deathError);
    if (!texts) throw createStoreUnavailableError(`the response ${id} cannot be read`);
    const identity = await parts.identities.find(record.key);
    const refusal = deathError ?? findRefusal(record, identity !== undefined);
    await makeInRun(
      parts,
      { record, format: { ...format, background: format.background }, heavyTask },
      { ...texts, identity, refusal },
    );
  } finally {
    heavyTask.end();
    parts.ownerPlaces.release(record.owner);
  }
}

interface ResponseInput {
  queued: JsonObject;
  request: JsonObject | undefined;
  identity: KeyIdentity | undefined;
  /** Why the response must not be made; undefined if it may. */
  refusal: RouterError | undefined;
}

async function makeInRun(
  parts: MakeResponseParts,
  response: Pick<RunningResponse, 'record' | 'format' | 'heavyTask'>,
  { queued, request, identity, refusal }: ResponseInput,
): Promise<void> {
  const { responses, stopping } = parts;
  const { record, format, heavyTask } = response;
  const { id } = record;
  const { background: backgroundFormat } = format;
  const begun = await responses.beginRun(
    record,
    backgroundFormat.writeInProgressEvent(queued, backgroundFormat.writeQueuedEvents(queued).last + 1),
  );
  if (!begun) return;
  const runningResponse: RunningResponse = { ...response, queued, runId: begun.runId };
  const watch = new RunWatch({ id, responses, changes: parts.changes, run: begun.runId, stopping });
  const charge = new LineCharge(parts.serving.limits, parts.serving.priceOf);
  const memory = new AnswerMemory(parts.serving.answerBudget);
  const writer = new JournalWriter({
    next: begun.next,
    append: (entry) => responses.append(record, begun.runId, entry),
    maxBytes: responses.answerBytes,
    share: parts.eventBudget.openShare(record.owner),
    onSuperseded: () => watch.stop(),
  });
  try {
    const { limits, record: count } = charge;
    const write = (events: string): void =>
      writer.add(Buffer.from(events), backgroundFormat.findLastNumber(events) ?? writer.next - 1);
    const streaming = { heavyTask, nextEvent: begun.next, write, memory };
    const run = { id, requestId: record.requestId, format, backgroundFormat, ...streaming };
    const ended: RunEnd =
      identity && request && !refusal
        ? await serveRun(
            { ...parts.serving, limits, record: count },
            { ...run, identity, request: asResponseRequest(request) },
            watch.signal,
          )
        : { end: refusal && { error: refusal }, toStore: undefined, hadEffects: false };
    const rest = await writer.close(watch.signal);
    const { end } = ended;
    if (!end || !rest || watch.isStopped) return await chargeStoppedRun(parts, runningResponse, charge);
    const runOutput = { charge, rest, next: writer.next };
    await finishRun(parts, runningResponse, { ...ended, end }, runOutput);
  } finally {
    writer.stop();
    watch.close();
    charge.release();
    memory.release();
  }
}

/** Returns why a response must not be served any more; undefined if it may be served. */
function findRefusal({ expiresAt }: BackgroundRecord, hasKey: boolean): RouterError | undefined {
  if (!hasKey)
    return new RouterError('invalid_api_key', 'The key that asked for the response may not be used any more.');
  if (Date.now() < expiresAt) return undefined;
  return new RouterError('total_timeout', 'The response expired before it was made.');
}

/** Charges a run that was stopped because the response was cancelled or removed, another run has begun, or the runner stops. */
async function chargeStoppedRun(
  { responses, ledger, stopping }: MakeResponseParts,
  runningResponse: RunningResponse,
  charge: LineCharge,
): Promise<void> {
  const { record, runId } = runningResponse;
  // The run is also charged if it used nothing, because a removed response is kept until its use is counted.
  const count = () => responses.charge(record, runId, ledger.createEntry(charge.records));
  if (await recordThroughOutage(count, stopping)) charge.commit();
  if (stopping.aborted) throw new RunLaterError(stoppingMs);
}

interface RunOutput {
  charge: LineCharge;
  /** Events that are not in the store yet. */
  rest: JournalEntry;
  /** Number of the next event. */
  next: number;
}

async function finishRun(
  parts: MakeResponseParts,
  runningResponse: RunningResponse,
  { end, toStore, hadEffects }: RunEnd & { end: NonNullable<RunEnd['end']> },
  runOutput: RunOutput,
): Promise<void> {
  const { responses } = parts;
  const { background: backgroundFormat } = runningResponse.format;
  const deathError =
    'event' in end && end.event.length >= heavyBytes ? await runningResponse.heavyTask.begin() : undefined;
  const ending =
    'event' in end && !deathError ? backgroundFormat.readEnding(end.event, runningResponse.queued) : undefined;
  if (ending) return await recordEnd(parts, runningResponse, ending, toStore, runOutput);
  const unreadableError = deathError ?? new RouterError('upstream_failed', 'The answer could not be read.');
  const failure = 'error' in end ? end.error : unreadableError;
  const error = hadEffects ? failure.withEffects() : failure;
  // The model was known when the response was requested, so its workers may be about to start.
  const decision = decideAfterError(error, true);
  if (decision.kind === 'again') {
    const failures = decision.counts ? await responses.noteFailure(runningResponse.record) : 0;
    if (failures < parts.maxTries) throw new RunLaterError(decision.afterMs);
  }
  parts.log.warn({ id: runningResponse.record.id, err: error }, 'a response in the background failed');
  await recordEnd(
    parts,
    runningResponse,
    backgroundFormat.writeFailureEvent(error, runningResponse.queued, runOutput.next),
    undefined,
    runOutput,
  );
}

/** Records the end of the response with its answer and usage. */
async function recordEnd(
  parts: MakeResponseParts,
  runningResponse: RunningResponse,
  ending: EndingEvent,
  toStore: AnswerToStore | undefined,
  runOutput: RunOutput,
): Promise<void> {
  const { responses, ledger, stopping } = parts;
  const { state, answer, last } = ending;
  const { charge, rest } = runOutput;
  const stored = state === 'failed' ? undefined : await prepareToStore(parts, runningResponse, answer, toStore);
  if (state !== 'failed' && !stored)
    return await recordEnd(parts, runningResponse, createTooLargeEnd(runningResponse, runOutput), undefined, runOutput);
  const endResult: { outcome: Awaited<ReturnType<ResponseWork['end']>> } = { outcome: 'over' };
  const isFirst = await recordThroughOutage(async () => {
    endResult.outcome = await responses.end(runningResponse.record, runningResponse.runId, {
      state,
      entry: { ...rest, last, bytes: Buffer.concat([rest.bytes ?? noBytes, Buffer.from(ending.events)]) },
      storedResponse: stored,
      final: state === 'failed' ? answer : undefined,
      ledger: ledger.createEntry(charge.records),
    });
    return endResult.outcome === 'ended';
  }, stopping);
  if (endResult.outcome === 'too large')
    return await recordEnd(parts, runningResponse, createTooLargeEnd(runningResponse, runOutput), undefined, runOutput);
  if (!isFirst) return await chargeStoppedRun(parts, runningResponse, charge);
  charge.commit();
  parts.countResponse(state);
  const { id, requestId } = runningResponse.record;
  parts.log.info({ id, requestId, state, attempt: runningResponse.runId }, 'a response was made in the background');
}

function createTooLargeEnd({ format, queued }: RunningResponse, { next }: RunOutput): EndingEvent {
  const error = new RouterError('request_exceeds_limit', 'The response is too large to be stored.');
  return format.background.writeFailureEvent(error, queued, next);
}

async function prepareToStore(
  { stored }: MakeResponseParts,
  { record: { id, owner }, format }: RunningResponse,
  answer: JsonObject,
  toStore: AnswerToStore | undefined,
) {
  const { stored: storedFormat } = format;
  if (!storedFormat || !toStore) return undefined;
  const { input, previous } = toStore;
  return stored.prepare(owner, {
    id,
    response: storedFormat.toStoredAnswer(answer, previous),
    input: storedFormat.toStoredInput(input),
    previous,
  });
}
