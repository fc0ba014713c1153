import type { BackgroundRecord } from '#shared/accounts/background-responses/background-record.ts';
import { isOver } from '#shared/accounts/background-responses/background-record.ts';
import type { ResponseChanges } from '#shared/accounts/background-responses/response-changes.ts';
import type { ResponseWork } from '#shared/accounts/background-responses/response-work.ts';
import type { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { storeUnavailable } from '#shared/accounts/redis/call-redis.ts';
import type { StoredResponses } from '#shared/accounts/stored-responses/stored-responses.ts';
import { RunLaterError } from '#shared/background/background-worker.ts';
import type { ResponseJob } from '#shared/background/response-jobs.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { Logger } from '#shared/core/log.ts';
import type { BackgroundAnswers, EndingEvent } from '#shared/formats/background-answers.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { AnswerToStore } from '#shared/serving/stored/resolve-stored.ts';
import { decideAfterError } from '../lines/judge-error.ts';
import { LineCharge } from '../lines/line-charge.ts';
import type { BackgroundIdentities } from '../lines/background-identities.ts';
import { recordThroughOutage } from '../lines/record-through-outage.ts';
import { EventWriter } from './event-writer.ts';
import { RunWatch } from './run-watch.ts';
import { heavyBytes, type HeavyTask, type HeavyWork } from '../heavy-work.ts';
import type { MemoryBudget } from '#shared/core/memory-budget.ts';
import { asResponseRequest, serveRun, type RunEnd, type ServeRunParts } from './serve-run.ts';

/** Milliseconds after which a response is started again when its runner stops. */
const stoppingMs = 100;

export interface MakeResponseParts {
  work: ResponseWork;
  changes: Pick<ResponseChanges, 'watch'>;
  stored: Pick<StoredResponses, 'prepare'>;
  formats: readonly ClientFormat[];
  identities: BackgroundIdentities;
  heavy: Pick<HeavyWork, 'createPiece'>;
  ledger: Pick<UsageLedger, 'createEntry'>;
  serving: Omit<ServeRunParts, 'record'>;
  /** Budget for the characters of events that wait to be written. */
  room: MemoryBudget;
  /** Number of failed runs after which the response fails. Runs that fail because workers, limits or stores are missing do not count. */
  maxAttempts: number;
  /** Aborts when the runner stops. */
  stopping: AbortSignal;
  /** Called with every response that this process has ended. */
  countResponse: (state: EndingEvent['state']) => void;
  log: Pick<Logger, 'info' | 'warn'>;
}

interface Made {
  record: BackgroundRecord;
  format: ClientFormat & { background: BackgroundAnswers };
  queued: JsonObject;
  attempt: string;
  heavy: HeavyTask;
}

/**
 * Makes a response: serves its request, writes the events of its stream as they come, and ends it. May be called again, and by several
 * runners at the same time. Then the run that began last continues, and the others stop.
 * @throws RunLaterError if the runner stops, or if the run failed and the response is to be tried again
 */
export async function makeResponse(parts: MakeResponseParts, { response: id }: ResponseJob): Promise<void> {
  const { work, formats, stopping } = parts;
  if (stopping.aborted) throw new RunLaterError(stoppingMs);
  const record = await work.find(id);
  if (!record || isOver(record)) return;
  const format = formats.find(({ name }) => name === record.format);
  if (!format?.background) throw storeUnavailable(`the response ${id} cannot be read`);
  const heavy = parts.heavy.createPiece(id);
  try {
    const setAside = record.requestBytes >= heavyBytes ? await heavy.begin() : undefined;
    const texts = await work.readTexts(record, !setAside);
    if (!texts) throw storeUnavailable(`the response ${id} cannot be read`);
    const identity = await parts.identities.find(record.key);
    const refusal = setAside ?? refusalOf(record, identity !== undefined);
    await makeFrom(
      parts,
      { record, format: { ...format, background: format.background }, heavy },
      { ...texts, identity, refusal },
    );
  } finally {
    heavy.end();
  }
}

interface ResponseInput {
  queued: JsonObject;
  request: JsonObject | undefined;
  identity: KeyIdentity | undefined;
  /** Why the response must not be made; undefined if it may. */
  refusal: RouterError | undefined;
}

async function makeFrom(
  parts: MakeResponseParts,
  response: Pick<Made, 'record' | 'format' | 'heavy'>,
  { queued, request, identity, refusal }: ResponseInput,
): Promise<void> {
  const { work, stopping } = parts;
  const { record, format, heavy } = response;
  const { id } = record;
  const { background: shape } = format;
  const begun = await work.beginRun(record, shape.inProgressEvent(queued, shape.queuedEvents(queued).last + 1));
  if (!begun) return;
  const made: Made = { ...response, queued, attempt: begun.attempt };
  const watch = new RunWatch({ id, work, changes: parts.changes, run: begun.attempt, stopping });
  const charge = new LineCharge(parts.serving.limits, parts.serving.priceOf);
  const writer = new EventWriter({
    next: begun.next,
    lastNumber: shape.lastNumber,
    append: (events) => work.append(record, begun.attempt, events),
    room: parts.room,
    onRefused: () => watch.stop(),
  });
  try {
    const { limits, record: count } = charge;
    const on = { heavy, nextEvent: begun.next, write: (more: string): void => writer.write(more) };
    const attempt = { id, requestId: record.requestId, format, shape, ...on };
    const ended: RunEnd =
      identity && request && !refusal
        ? await serveRun(
            { ...parts.serving, limits, record: count },
            { ...attempt, identity, request: asResponseRequest(request) },
            watch.signal,
          )
        : { end: refusal && { error: refusal }, toStore: undefined };
    const events = await writer.close();
    const { end, toStore } = ended;
    if (!end || watch.isStopped) return await chargeStoppedRun(parts, made, charge);
    const written = { charge, events, from: writer.unwritten, next: writer.next };
    await finish(parts, made, { end, toStore }, written);
  } finally {
    watch.close();
    charge.release();
  }
}

/** Returns why a response must not be served any more; undefined if it may be served. */
function refusalOf({ expiresAt }: BackgroundRecord, hasKey: boolean): RouterError | undefined {
  if (!hasKey)
    return new RouterError('invalid_api_key', 'The key that asked for the response may not be used any more.');
  if (Date.now() < expiresAt) return undefined;
  return new RouterError('total_timeout', 'The response could not be made in the time that there was for it.');
}

/** Charges a run that was stopped because the response was cancelled or removed, another run has begun, or the runner stops. */
async function chargeStoppedRun(
  { work, ledger, stopping }: MakeResponseParts,
  made: Made,
  charge: LineCharge,
): Promise<void> {
  const { record, attempt } = made;
  if (charge.records.length > 0) {
    const count = () => work.charge(record, attempt, ledger.createEntry(charge.records));
    if (await recordThroughOutage(count, stopping)) charge.commit();
  }
  if (stopping.aborted) throw new RunLaterError(stoppingMs);
}

interface Written {
  charge: LineCharge;
  /** Events that are not in the store yet. */
  events: string;
  /** Number of the first of these events. */
  from: number;
  /** Number of the next event. */
  next: number;
}

async function finish(
  parts: MakeResponseParts,
  made: Made,
  { end, toStore }: RunEnd & { end: NonNullable<RunEnd['end']> },
  written: Written,
): Promise<void> {
  const { work } = parts;
  const { background: shape } = made.format;
  const setAside = 'event' in end && end.event.length >= heavyBytes ? await made.heavy.begin() : undefined;
  const ending = 'event' in end && !setAside ? shape.readEnding(end.event, made.queued) : undefined;
  if (ending) return await record(parts, made, ending, toStore, written);
  const unread = setAside ?? new RouterError('upstream_failed', 'The answer could not be read.');
  const error = 'error' in end ? end.error : unread;
  // The model was known when the response was requested, so its workers may be about to start.
  const judgement = decideAfterError(error, true);
  if (judgement.kind === 'again') {
    const failures = judgement.counts ? await work.noteFailure(made.record) : 0;
    if (failures < parts.maxAttempts) throw new RunLaterError(judgement.afterMs);
  }
  parts.log.warn({ id: made.record.id, err: error }, 'a response in the background failed');
  await record(parts, made, shape.failureEvent(error, made.queued, written.next), undefined, written);
}

/** Records the end of the response with its answer and usage. */
async function record(
  parts: MakeResponseParts,
  made: Made,
  ending: EndingEvent,
  toStore: AnswerToStore | undefined,
  written: Written,
): Promise<void> {
  const { work, ledger, stopping } = parts;
  const { state, answer, last } = ending;
  const { charge, events, from } = written;
  const stored = state === 'failed' ? undefined : await preparedOf(parts, made, answer, toStore);
  if (state !== 'failed' && !stored) return await record(parts, made, tooLarge(made, written), undefined, written);
  const ended: { as: Awaited<ReturnType<ResponseWork['end']>> } = { as: 'over' };
  const isFirst = await recordThroughOutage(async () => {
    ended.as = await work.end(made.record, made.attempt, {
      state,
      from,
      last,
      stored,
      events: events + ending.events,
      final: state === 'failed' ? answer : undefined,
      ledger: ledger.createEntry(charge.records),
    });
    return ended.as === 'ended';
  }, stopping);
  if (ended.as === 'too large') return await record(parts, made, tooLarge(made, written), undefined, written);
  if (!isFirst) return await chargeStoppedRun(parts, made, charge);
  charge.commit();
  parts.countResponse(state);
  const { id, requestId } = made.record;
  parts.log.info({ id, requestId, state, attempt: made.attempt }, 'a response was made in the background');
}

function tooLarge({ format, queued }: Made, { next }: Written): EndingEvent {
  const error = new RouterError('request_exceeds_limit', 'The response is too large to be stored.');
  return format.background.failureEvent(error, queued, next);
}

async function preparedOf(
  { stored }: MakeResponseParts,
  { record: { id, owner }, format }: Made,
  answer: JsonObject,
  toStore: AnswerToStore | undefined,
) {
  const { stored: storing } = format;
  if (!storing || !toStore) return undefined;
  const { input, previous } = toStore;
  return stored.prepare(owner, {
    id,
    response: storing.toStoredAnswer(answer, previous),
    input: storing.toStoredInput(input),
    previous,
  });
}
