import { setTimeout as pause } from 'node:timers/promises';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import { newAnswerId } from '#shared/formats/answer-id.ts';
import type { ClientFormat, ClientRequest } from '#shared/formats/client-format.ts';
import type { Caller } from '#shared/serving/caller.ts';
import { senderOf } from '#shared/serving/sender-of.ts';
import { serveRequest } from '#shared/serving/serve-request.ts';
import type { ModelSink, ServingParts } from '#shared/serving/serve-model.ts';
import { inlineFiles, type InputFiles } from '#shared/serving/files/inline-files.ts';
import { type AnswerStore, resolveStored, withFields } from '#shared/serving/stored/resolve-stored.ts';
import type { AnswerStorer } from '#shared/serving/stored/store-answers.ts';
import { storingSink } from '#shared/serving/stored/storing-sink.ts';
import type { LineSlots } from '../slots/line-slots.ts';
import type { WaitingWork } from '../slots/waiting-work.ts';
import { AnswerSink, type Answer } from './answer-sink.ts';
import { judgeError } from './judge-error.ts';
import { LineCharge } from './line-charge.ts';
import { linePlaceOf, type LinePlace, type WaitingLine } from './line-place.ts';
import type { Room } from '../room.ts';

/** Milliseconds between two looks for room, should a change go unnoticed. */
const lookMs = 100;

export interface RunLineParts extends Omit<ServingParts, 'record'> {
  slots: LineSlots;
  waitingWork: Pick<WaitingWork, 'note'>;
  answers: AnswerStore;
  storer: AnswerStorer;
  inputFiles: InputFiles;
  /** Bytes of the requests that run, with their files. */
  bodies: Room;
  /** Executions of a line at most that end with an error of its own. */
  maxAttempts: number;
}

/** A request of a batch that is to be run. */
export interface LineRequest {
  /** Its id in logs, records and results. */
  requestId: string;
  format: ClientFormat;
  operation: ModelOperation;
  identity: KeyIdentity;
  body: Buffer;
  /** A model that is known to exist, though no worker may have served it since this process began. */
  knownModel: string | undefined;
  /** Called when it has begun to run: the next line may wait for a slot. */
  onPlaced: () => void;
  /** Called when it waits, with where it could be served if it waits for a slot; and when it does not any more. */
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

/** How a line ended, with what it came to; or that the batch is to pause; or, if it was stopped, nothing. */
export type LineEnd =
  | { kind: 'over'; answer: Answer; charge: LineCharge }
  | { kind: 'pause'; ms: number; reason: string }
  | { kind: 'stopped' };

/**
 * Runs one line until it has a result: waits for a free slot, serves it as a request of the lowest class, and runs it again after errors
 * that say nothing about it, or that another attempt may not have.
 */
export async function runLine(parts: RunLineParts, line: LineRequest, stops: LineStops): Promise<LineEnd> {
  for (let attempts = 0; !stops.waiting.aborted;) {
    const charge = new LineCharge(parts.limits, parts.priceOf);
    const answer = await runOnce(parts, line, charge, stops).catch(failed);
    if (!answer || stops.running.aborted) {
      charge.release();
      break;
    }
    const judgement = 'error' in answer ? judgeError(answer.error) : final;
    if (judgement.kind === 'again' && judgement.counts) attempts += 1;
    if (judgement.kind === 'final' || attempts >= parts.maxAttempts) return { kind: 'over', answer, charge };
    charge.release();
    if (judgement.kind === 'pause' && 'error' in answer)
      return { kind: 'pause', ms: judgement.ms, reason: answer.error.message };
    if (judgement.kind === 'again') {
      line.onWait();
      await wait(judgement.afterMs, stops.waiting);
      line.onGoOn();
    }
  }
  return { kind: 'stopped' };
}

const final = { kind: 'final' } as const;

/** Runs it once, while there is memory for it. @returns undefined if the signal aborts before it is over */
async function runOnce(
  parts: RunLineParts,
  line: LineRequest,
  charge: LineCharge,
  stops: LineStops,
): Promise<Answer | undefined> {
  let held = 0;
  const hold = (bytes: number): void => {
    if (!parts.bodies.take(bytes))
      throw new RouterError('overloaded', 'The requests of batches take too much memory.', { retryAfter: 1 });
    held += bytes;
  };
  try {
    hold(line.body.length);
    return await serveOnce(parts, line, charge, stops, hold);
  } finally {
    parts.bodies.give(held);
  }
}

/** @param hold called with the bytes that it takes in addition, before it takes them; throws where there are not so many */
async function serveOnce(
  parts: RunLineParts,
  line: LineRequest,
  charge: LineCharge,
  { waiting, running: signal }: LineStops,
  hold: (bytes: number) => void,
): Promise<Answer | undefined> {
  const { requestId, format, operation, identity, body, knownModel, onPlaced } = line;
  const read = (given: Buffer): ClientRequest => format.read(given, operation);
  const { owner } = senderOf(identity);
  const given = withoutStoring(read(body));
  if (given.background)
    throw new RouterError('invalid_request', 'A request of a batch is not made in the background.', {
      param: 'background',
    });
  if (given.parameters.stream)
    throw new RouterError('invalid_request', 'A request of a batch cannot be streamed.', { param: 'stream' });
  const resolved = await resolveStored(parts.answers, format, operation, given, owner);
  const { request: stored, fields, addedBytes, toStore } = resolved;
  hold(addedBytes);
  const inlining = { format, operation, owner, onBytes: hold };
  const inlined = stored.files ? await inlineFiles(parts.inputFiles, stored, inlining) : stored;
  const request = withFields(inlined, fields);
  const answerId = format.opensAnswers === true && operation === 'generate' ? newAnswerId(format) : undefined;
  const { name, sealsAnswers = false, openStream } = format;
  const served = { format: name, operation, sealsAnswers, answerId, read, openStream };
  const sentFor = { purpose: undefined, agentType: undefined };
  // A line has one slot, so its list is not divided: other lines are in the other slots.
  const whole = { ...request, divisible: undefined };
  const asked = { ...whole, ...served, sentFor, headers: undefined, session: undefined, maxWaitMs: undefined };
  const caller: Caller = {
    requestId,
    identity,
    trace: undefined,
    onStanding: () => undefined,
    isGone: () => signal.aborted,
  };
  const answerSink = new AnswerSink();
  const sink: ModelSink =
    toStore && format.stored
      ? storingSink(answerSink, { caller, owner, format: format.stored, stream: false, toStore, storer: parts.storer })
      : answerSink;
  const { parameters } = asked;
  // Without the body, which may be large: what waits may outlast this execution.
  const waitingLine = { asked: { parameters, operation, format: name, sentFor }, identity, knownModel };
  const give = await takeSlot(parts, line, waitingLine, waiting);
  if (!give) return undefined;
  try {
    const { dispatcher } = parts.slots;
    const { limits, record } = charge;
    const running = await serveRequest({ ...parts, dispatcher, limits, record }, asked, sink, caller);
    give();
    onPlaced();
    if (!running) return undefined;
    return await answerOf(answerSink, running, signal);
  } finally {
    give();
  }
}

/** Waits until a worker has a free slot for the line. @returns undefined if the signal aborts before */
async function takeSlot(
  parts: RunLineParts,
  { onWait, onGoOn }: LineRequest,
  line: WaitingLine,
  signal: AbortSignal,
): Promise<(() => void) | undefined> {
  const { slots, waitingWork } = parts;
  const place = (): LinePlace => linePlaceOf(parts, line);
  onWait(place);
  try {
    while (!signal.aborted) {
      const { placements, tiers } = place();
      const give = slots.take(placements);
      if (give) return give;
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
