import { findStoreOwner, type KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import { RouterError } from '#shared/core/errors.ts';
import { isJsonObjectText } from '#shared/core/is-json-object-text.ts';
import type { ClientRequest, ClientFormat } from '#shared/formats/client-format.ts';
import type { Caller } from '#shared/serving/caller.ts';
import { serveRequest } from '#shared/serving/serve-request.ts';
import type { ServingComponents } from '#shared/serving/serve-model.ts';
import { prepareRequest } from '#shared/serving/prepare-request.ts';
import type { ModelBreakers } from '../slots/model-breakers.ts';
import { isUpstreamLimit } from '../slots/upstream-limit.ts';
import { awaitEnd } from '../await-end.ts';
import { AnswerMemory } from '../answer-memory.ts';
import { AnswerSink, type ReceivedAnswer } from './answer-sink.ts';
import { LineCharge } from './line-charge.ts';
import { takeLineSlot } from './take-line-slot.ts';
import { RequestMemory } from '../request-memory.ts';
import type { ServingParts } from '../serving-parts.ts';
import type { ModelOperation } from '#shared/core/operation.ts';
import { noPurpose } from '#shared/core/purpose.ts';
import type { RequestOptions } from '#shared/serving/request-options.ts';
import type { AnswerStorer } from '#shared/serving/stored/answer-storer.ts';
import type { LineSlots } from '../slots/line-slots.ts';
import type { WaitingWork } from '../slots/waiting-work.ts';
import type { LinePlace } from './line-place.ts';
import type { HeavyTask } from '../heavy-work.ts';

export interface TryLineParts extends ServingParts {
  priceOf: ServingComponents['priceOf'];
  slots: LineSlots;
  breakers: ModelBreakers;
  waitingWork: Pick<WaitingWork, 'setTiers'>;
  storer: AnswerStorer;
}

export interface LineRequest {
  /** Id of the line in logs, records and results. */
  requestId: string;
  /** Position of the line, for logs. */
  place: { id: string; slice: number; line: number };
  format: ClientFormat;
  operation: ModelOperation;
  identity: KeyIdentity;
  body: Buffer;
  heavyTask: HeavyTask;
  /** Bytes of `requestBudget` that are reserved for the line until it has ended. */
  reservedBytes: number;
  /** A model known to exist although no worker may have served it since this process began. */
  knownModel: string | undefined;
  /** Called when the next line may begin to wait for a slot, because this line runs, or waits for the limit of its upstream to end. */
  onPlaced: () => void;
  /** Called each time that the line begins to run. */
  onRun: () => void;
  /** Called when the line begins to wait. If the line waits for a worker or an upstream, `place` returns where it could be served. */
  onWait: (place?: () => LinePlace) => void;
  /** Called when the wait is over. */
  onGoOn: () => void;
}

export interface LineStops {
  /** Aborts when no further line may begin. */
  waiting: AbortSignal;
  /** Aborts when running lines must be cancelled. `waiting` then aborts as well. */
  running: AbortSignal;
}

/** How a try of a line ended: with the text of its answer, or with an error. */
export type Answer =
  | { text: string }
  /** `refusedFor` is the model if its upstream limits the rate of requests or is overloaded; undefined for other errors. */
  | { error: RouterError; refusedFor?: string };

/** A list in a line is not divided among several slots, because a line has one slot, and other lines use the other slots. */
const lineOptions: RequestOptions = { sentFor: noPurpose, isWhole: true };

type ServedAnswer = Extract<ReceivedAnswer, { bytes: Buffer }> | Extract<Answer, { error: RouterError }>;

export interface TryResources {
  charge: LineCharge;
  memory: AnswerMemory;
}

/**
 * Serves the line, if there is memory for it, and reads its answer.
 * @param onEffects see `Caller.onEffects`
 */
export async function tryLine(
  parts: TryLineParts,
  line: LineRequest,
  resources: TryResources,
  stops: LineStops,
  onEffects: () => void,
): Promise<Answer | undefined> {
  const received = await serveInMemory(parts, line, resources, stops, onEffects);
  if (!received || 'error' in received) return received;
  return { text: await readAnswer(received.bytes, resources.memory, stops.running) };
}

/**
 * Returns the text of an answer, once there is memory for it.
 * @throws RouterError `upstream_failed` for an answer that is not a JSON object: a worker may send anything, and the file of results would
 * be unreadable from such a line on; or as `AnswerMemory.reserveAnswer` does
 */
async function readAnswer(bytes: Buffer, memory: AnswerMemory, signal: AbortSignal): Promise<string> {
  await memory.reserveAnswer(bytes.length, signal);
  if (!isJsonObjectText(bytes)) throw new RouterError('upstream_failed', 'The answer could not be read.');
  return bytes.toString();
}

async function serveInMemory(
  parts: TryLineParts,
  line: LineRequest,
  resources: TryResources,
  stops: LineStops,
  onEffects: () => void,
): Promise<ServedAnswer | undefined> {
  const { heavyTask, reservedBytes, identity } = line;
  const { requestBudget: budget } = parts;
  const requestMemory = new RequestMemory({ budget, owner: findStoreOwner(identity), heavyTask, reservedBytes });
  try {
    await requestMemory.grow(line.body.length);
    return await serveOnce(parts, line, resources, stops, requestMemory, onEffects);
  } finally {
    requestMemory.release();
  }
}

async function serveOnce(
  parts: TryLineParts,
  line: LineRequest,
  { charge, memory }: TryResources,
  { waiting, running: signal }: LineStops,
  requestMemory: RequestMemory,
  onEffects: () => void,
): Promise<ServedAnswer | undefined> {
  const { requestId, format, operation, identity, body, knownModel, onPlaced, onRun } = line;
  const client = withoutStoring(format.read(body, operation));
  if (client.background)
    throw new RouterError('invalid_request', 'A request of a batch is not made in the background.', {
      param: 'background',
    });
  if (client.parameters.stream)
    throw new RouterError('invalid_request', 'A request of a batch cannot be streamed.', { param: 'stream' });
  const caller: Caller = { requestId, identity, trace: undefined, onEffects, isGone: () => signal.aborted };
  const request = await prepareRequest(parts, { format, operation, client }, caller, requestMemory);
  if (!request) return undefined;
  requestMemory.endHeavyWork();
  const { parameters } = request.client;
  const waitingLine = { parameters, operation, format: format.name, identity, knownModel };
  const slot = await takeLineSlot(parts, waitingLine, line, waiting);
  if (!slot) return undefined;
  const { releaseSlot, model, endRequest } = slot;
  try {
    memory.reserve(operation);
    const { dispatcher } = parts.slots;
    const { limits } = charge;
    let report: JobReport | undefined;
    const record: ServingComponents['record'] = (ended) => {
      // The reports of hosted tools' calls tell nothing about the model.
      if (ended.operation === operation) ({ report } = ended);
      charge.record(ended);
    };
    await requestMemory.beginIfLarge();
    const answerSink = new AnswerSink((bytes, bound) => requestMemory.hold(bytes, bound));
    const servingParts = { ...parts, dispatcher, limits, record };
    const running = await serveRequest(servingParts, request, lineOptions, answerSink, caller);
    requestMemory.endHeavyWork();
    releaseSlot();
    onPlaced();
    onRun();
    if (!running) return undefined;
    const answer = await awaitEnd(answerSink.answer, running, signal);
    if (!answer) return undefined;
    return reportToBreaker(parts.breakers, model, answer, report?.error);
  } finally {
    releaseSlot();
    endRequest();
  }
}

/**
 * Reports an answer to the model's circuit breaker.
 * @param jobError the error of the model's last job; undefined if it had none. An answer with hosted tools may have another error, for
 * instance because the key's own limits refuse its next turn
 */
function reportToBreaker(
  breaker: ModelBreakers,
  model: string,
  answer: ReceivedAnswer,
  jobError: RouterError | undefined,
): ServedAnswer {
  if ('bytes' in answer) breaker.noteAnswer(model);
  else if (jobError && isUpstreamLimit(jobError)) {
    breaker.noteRefusal(model, jobError);
    return { ...answer, refusedFor: model };
  }
  return answer;
}

/** Turns storing off unless the line requests it, because the answers of a batch would make the store evict the owner's conversations. */
function withoutStoring(request: ClientRequest): ClientRequest {
  const { store } = request;
  return store ? { ...request, store: { ...store, store: store.store ?? false } } : request;
}
