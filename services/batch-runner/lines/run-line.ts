import { setTimeout as pause } from 'node:timers/promises';
import { storeOwnerOf, type KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import { newAnswerId } from '#shared/formats/answer-id.ts';
import type { ClientFormat, ClientRequest } from '#shared/formats/client-format.ts';
import type { Caller } from '#shared/serving/caller.ts';
import { serveRequest } from '#shared/serving/serve-request.ts';
import type { ModelSink, ServingParts } from '#shared/serving/serve-model.ts';
import { inlineFiles, type InputFiles } from '#shared/serving/files/inline-files.ts';
import { type AnswerStore, refersToStored, resolveStored, withFields } from '#shared/serving/stored/resolve-stored.ts';
import type { AnswerStorer } from '#shared/serving/stored/store-answers.ts';
import { storingSink } from '#shared/serving/stored/storing-sink.ts';
import type { LineSlots } from '../slots/line-slots.ts';
import type { ModelPace } from '../slots/model-pace.ts';
import { isUpstreamLimit } from '../slots/upstream-limit.ts';
import type { WaitingWork } from '../slots/waiting-work.ts';
import { AnswerSink, type Answer } from './answer-sink.ts';
import { judgeError } from './judge-error.ts';
import { LineCharge } from './line-charge.ts';
import { LineMemory } from './line-memory.ts';
import { linePlaceOf, type LinePlace, type WaitingLine } from './line-place.ts';
import type { RefusedLines } from './refused-lines.ts';
import type { HeavyPiece } from '../heavy-work.ts';
import { HeldRequest } from '../held-request.ts';
import type { MemoryBudget } from '#shared/core/memory-budget.ts';

/** Milliseconds between two looks for room, should a change go unnoticed. */
const lookMs = 100;

export interface RunLineParts extends Omit<ServingParts, 'record'> {
  slots: LineSlots;
  pace: ModelPace;
  refusedLines: RefusedLines;
  waitingWork: Pick<WaitingWork, 'note'>;
  answers: AnswerStore;
  storer: AnswerStorer;
  inputFiles: InputFiles;
  /** Bytes of the requests that run, with their files. */
  bodies: MemoryBudget;
  /** Bytes of the answers that are large. */
  answerRoom: MemoryBudget;
  /** Executions of a line at most that end with an error of its own. */
  maxAttempts: number;
  log: Logger;
}

/** A request of a batch that is to be run. */
export interface LineRequest {
  /** Its id in logs, records and results. */
  requestId: string;
  /** Where it stands, for logs. */
  place: { id: string; slice: number; line: number };
  format: ClientFormat;
  operation: ModelOperation;
  identity: KeyIdentity;
  body: Buffer;
  /** Its heavy work. */
  heavy: HeavyPiece;
  /** A model that is known to exist, though no worker may have served it since this process began. */
  knownModel: string | undefined;
  /** Called when the next line may wait for a slot: this one runs, or is not to be tried for now. */
  onPlaced: () => void;
  /** Called each time that it begins to run. */
  onRun: () => void;
  /** Called when it waits, with where it could be served if it waits to be served; and when it does not any more. */
  onWait: (place?: () => LinePlace) => void;
  onGoOn: () => void;
}

/** What stops a line. */
export interface LineStops {
  /** Aborts when a line that does not run is not to begin. */
  waiting: AbortSignal;
  /** Aborts when one that runs is to be cancelled, and with `waiting`. */
  running: AbortSignal;
}

/**
 * How a line ended, with what it came to, and the memory that is to be given back once the answer is recorded; or that the batch is to
 * pause; or, if it was stopped, nothing.
 */
export type LineEnd =
  | { kind: 'over'; answer: Answer; charge: LineCharge; memory: LineMemory }
  | { kind: 'pause'; ms: number; reason: string }
  | { kind: 'stopped' };

/**
 * Runs one line until it has a result: waits for a free slot, serves it as a request of the lowest class, and runs it again after errors
 * that say nothing about it, or that another attempt may not have.
 */
export async function runLine(parts: RunLineParts, line: LineRequest, stops: LineStops): Promise<LineEnd> {
  for (let attempts = 0; !stops.waiting.aborted;) {
    await awaitLimit(parts, line, stops.waiting);
    const charge = new LineCharge(parts.limits, parts.priceOf);
    const memory = new LineMemory(parts.answerRoom);
    const answer = await runOnce(parts, line, { charge, memory }, stops).catch(failed);
    if (!answer || stops.running.aborted) {
      charge.release();
      memory.give();
      break;
    }
    if ('error' in answer && answer.error.code === 'internal') noteFailure(parts.log, line, answer.error);
    const judgement = 'error' in answer ? judgeError(answer.error) : final;
    if (judgement.kind === 'again' && judgement.counts) attempts += 1;
    if (judgement.kind === 'final' || attempts >= parts.maxAttempts) {
      parts.refusedLines.forget(line.requestId);
      return { kind: 'over', answer, charge, memory };
    }
    charge.release();
    memory.give();
    if (judgement.kind === 'pause' && 'error' in answer)
      return { kind: 'pause', ms: judgement.ms, reason: answer.error.message };
    if ('error' in answer && answer.refusedFor !== undefined)
      parts.refusedLines.refused(line.requestId, answer.refusedFor, answer.error);
    else if (judgement.kind === 'again') {
      line.onWait();
      await wait(judgement.afterMs, stops.waiting);
      line.onGoOn();
    }
  }
  return { kind: 'stopped' };
}

const final = { kind: 'final' } as const;

/** Logs an error of the router's own, of which the result of a line says nothing. */
function noteFailure(log: Logger, { place: { id: batch, slice, line } }: LineRequest, error: RouterError): void {
  log.warn({ batch, slice, line, err: error.cause ?? error }, 'the router failed in a line of a batch');
}

/** Waits while the line is not to be tried because an upstream has refused it. Others of its slice go on. */
async function awaitLimit({ refusedLines }: RunLineParts, line: LineRequest, signal: AbortSignal): Promise<void> {
  const limit = refusedLines.limitOf(line.requestId);
  if (!limit) return;
  line.onPlaced();
  line.onWait(() => ({ placements: [], tiers: [], limit }));
  await wait(limit.until - Date.now(), signal);
  line.onGoOn();
}

/** What an execution of a line takes. */
interface Taken {
  charge: LineCharge;
  memory: LineMemory;
}

/** Runs it once, while there is memory for it. @returns undefined if the signal aborts before it is over */
async function runOnce(
  parts: RunLineParts,
  line: LineRequest,
  taken: Taken,
  stops: LineStops,
): Promise<Answer | undefined> {
  const held = new HeldRequest(parts.bodies, line.heavy);
  try {
    await held.take(line.body.length);
    return await serveOnce(parts, line, taken, stops, held);
  } finally {
    held.give();
  }
}

async function serveOnce(
  parts: RunLineParts,
  line: LineRequest,
  { charge, memory }: Taken,
  { waiting, running: signal }: LineStops,
  held: HeldRequest,
): Promise<Answer | undefined> {
  const { requestId, format, operation, identity, body, knownModel, onPlaced, onRun } = line;
  const read = (given: Buffer): ClientRequest => format.read(given, operation);
  const owner = storeOwnerOf(identity);
  const given = withoutStoring(read(body));
  if (given.background)
    throw new RouterError('invalid_request', 'A request of a batch is not made in the background.', {
      param: 'background',
    });
  if (given.parameters.stream)
    throw new RouterError('invalid_request', 'A request of a batch cannot be streamed.', { param: 'stream' });
  // What it refers to may be large, which is known once it is read.
  if (refersToStored(given)) await held.begin();
  const resolved = await resolveStored(parts.answers, format, operation, given, owner);
  const { request: stored, fields, addedBytes, toStore } = resolved;
  await held.take(addedBytes);
  const inlining = { format, operation, owner, onBytes: held.take };
  const inlined = stored.files ? await inlineFiles(parts.inputFiles, stored, inlining) : stored;
  const request = withFields(inlined, fields);
  const answerId = format.opensAnswers === true && operation === 'generate' ? newAnswerId(format) : undefined;
  const { name, sealsAnswers = false, openStream } = format;
  const served = { format: name, operation, sealsAnswers, answerId, read, openStream };
  const sentFor = { purpose: undefined, agentType: undefined };
  // A line has one slot, so its list is not divided: other lines are in the other slots.
  const whole = { ...request, divisible: undefined };
  const asked = { ...whole, ...served, sentFor, headers: undefined, session: undefined, maxWaitMs: undefined };
  const isGone = (): boolean => signal.aborted;
  const caller: Caller = { requestId, identity, trace: undefined, onStanding: () => undefined, isGone };
  const answerSink = new AnswerSink();
  const sink: ModelSink =
    toStore && format.stored
      ? storingSink(answerSink, { caller, owner, format: format.stored, stream: false, toStore, storer: parts.storer })
      : answerSink;
  held.end();
  const { parameters } = asked;
  // Without the body, which may be large: what waits may outlast this execution.
  const waitingLine = { asked: { parameters, operation, format: name, sentFor }, identity, knownModel };
  const slot = await takeSlot(parts, line, waitingLine, waiting);
  if (!slot) return undefined;
  const { give, model, onEnd } = slot;
  try {
    memory.take(operation);
    const { dispatcher } = parts.slots;
    const { limits, record } = charge;
    await held.beginIfLarge();
    const running = await serveRequest({ ...parts, dispatcher, limits, record }, asked, sink, caller);
    held.end();
    give();
    onPlaced();
    onRun();
    if (!running) return undefined;
    const answer = await answerOf(answerSink, running, signal);
    if (!answer) return undefined;
    return paced(parts.pace, model, answer);
  } finally {
    give();
    onEnd();
  }
}

/** Notes what an answer says of the pace that the model's upstream allows. */
function paced(pace: ModelPace, model: string, answer: Answer): Answer {
  if ('text' in answer) pace.answered(model);
  else if (isUpstreamLimit(answer.error)) {
    pace.refused(model, answer.error);
    return { ...answer, refusedFor: model };
  }
  return answer;
}

/** Waits until a worker has a free slot for the line. @returns undefined if the signal aborts before */
async function takeSlot(
  parts: RunLineParts,
  { onWait, onGoOn }: LineRequest,
  line: WaitingLine,
  signal: AbortSignal,
): Promise<{ give: () => void; model: string; onEnd: () => void } | undefined> {
  const { slots, pace, waitingWork } = parts;
  const place = (): LinePlace => linePlaceOf(parts, line);
  onWait(place);
  try {
    while (!signal.aborted) {
      const { model, placements, tiers } = place();
      const give = model !== undefined && slots.take(placements);
      if (give) return { give, model, onEnd: pace.begin(model) };
      waitingWork.note(line, tiers);
      await slots.nextChange(lookMs, signal);
    }
    return undefined;
  } finally {
    waitingWork.note(line, []);
    onGoOn();
  }
}

async function answerOf(
  { answer }: AnswerSink,
  running: { cancel: () => void; finished: Promise<void> },
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const onAbort = (): void => running.cancel();
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    const cancelled = running.finished.then(() => (signal.aborted ? undefined : answer));
    const ended = await Promise.race([answer, cancelled]);
    await running.finished;
    return ended;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** A line's answer is stored only if the line asks for it: those of a batch would take the place of the owner's conversations. */
function withoutStoring(request: ClientRequest): ClientRequest {
  const { store } = request;
  return store ? { ...request, store: { ...store, store: store.store ?? false } } : request;
}

function failed(error: unknown): Answer {
  if (error instanceof RouterError) return { error };
  return { error: new RouterError('internal', 'The router failed.', { cause: error }) };
}

async function wait(ms: number, signal: AbortSignal): Promise<void> {
  if (ms > 0) await pause(ms, undefined, { signal }).catch(() => undefined);
}
