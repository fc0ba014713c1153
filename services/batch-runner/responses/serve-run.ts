import { toRouterError, type RouterError } from '#shared/core/errors.ts';
import { findStoreOwner, type KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { BackgroundAnswers } from '#shared/formats/background-answers.ts';
import type { ClientFormat } from '#shared/formats/client-format.ts';
import type { Caller } from '#shared/serving/caller.ts';
import { prepareRequest, type PreparedRequest } from '#shared/serving/prepare-request.ts';
import type { RequestOptions } from '#shared/serving/request-options.ts';
import { serveRequest } from '#shared/serving/serve-request.ts';
import type { ServingComponents } from '#shared/serving/serve-model.ts';
import type { AnswerToStore } from '#shared/serving/stored/resolve-stored.ts';
import { awaitEnd } from '../await-end.ts';
import { EventsSink } from './events-sink.ts';
import type { AnswerMemory } from '../answer-memory.ts';
import type { HeavyTask } from '../heavy-work.ts';
import { RequestMemory } from '../request-memory.ts';
import type { ServingParts } from '../serving-parts.ts';

export type ServeRunParts = ServingParts & Pick<ServingComponents, 'record' | 'priceOf'>;

export interface ResponseRequest extends RequestOptions {
  body: string;
  /** Whether the original request is recorded. */
  isRecorded: boolean;
}

export interface ResponseRun {
  id: string;
  requestId: string;
  format: ClientFormat;
  /** Reads and writes events of the format. */
  backgroundFormat: BackgroundAnswers;
  identity: KeyIdentity;
  heavyTask: HeavyTask;
  request: ResponseRequest;
  /** Number of the next event of the stream. */
  nextEvent: number;
  /** Called with all events except the one that ends the stream. */
  write: (events: string) => void;
  /** Reserves the memory of the event that ends the stream. */
  memory: Pick<AnswerMemory, 'reserveAnswer'>;
}

/** Result of a run. */
export interface RunEnd {
  /** The event that ends the stream, or the error of the run; undefined if the signal aborted first. */
  end: { event: string } | { error: RouterError } | undefined;
  /** What is stored with the answer; undefined if the answer is not stored. */
  toStore: AnswerToStore | undefined;
  /** Whether the run has called tools that may have changed something, so that another run would repeat that. */
  hadEffects: boolean;
}

/** Types the stored JSON as a request; the fields are not checked. */
export function asResponseRequest(stored: JsonObject): ResponseRequest {
  return stored as unknown as ResponseRequest;
}

/** Serves the request of a response once, as the ingress serves requests of connected clients. */
export async function serveRun(parts: ServeRunParts, run: ResponseRun, signal: AbortSignal): Promise<RunEnd> {
  const runEnd: RunEnd = { end: undefined, toStore: undefined, hadEffects: false };
  const { requestId, identity, request } = run;
  const { isRecorded } = request;
  const onEffects = (): void => {
    runEnd.hadEffects = true;
  };
  const caller: Caller = { requestId, identity, trace: undefined, isRecorded, onEffects, isGone: () => signal.aborted };
  const { requestBudget: budget } = parts;
  const requestMemory = new RequestMemory({ budget, owner: findStoreOwner(identity), heavyTask: run.heavyTask });
  try {
    const prepared = await prepareRun(parts, run, caller, requestMemory);
    if (!prepared) return runEnd;
    runEnd.toStore = prepared.toStore;
    runEnd.end = await servePrepared(parts, run, prepared, caller, requestMemory, signal);
  } catch (error) {
    runEnd.end = { error: toRouterError(error) };
  } finally {
    requestMemory.release();
  }
  return runEnd;
}

async function prepareRun(
  parts: ServeRunParts,
  { id, format, request }: ResponseRun,
  caller: Caller,
  requestMemory: RequestMemory,
): Promise<PreparedRequest | undefined> {
  const body = Buffer.from(request.body);
  await requestMemory.grow(body.length);
  const client = format.read(body, 'generate');
  return prepareRequest(parts, { format, operation: 'generate', client, answerId: id }, caller, requestMemory);
}

async function servePrepared(
  parts: ServeRunParts,
  { id, requestId, format, backgroundFormat, request: options, nextEvent, write, memory }: ResponseRun,
  request: PreparedRequest,
  caller: Caller,
  requestMemory: RequestMemory,
  signal: AbortSignal,
): Promise<RunEnd['end']> {
  const sink = new EventsSink({
    answer: format.openStream({ requestId, answerId: id, nextEvent }),
    backgroundFormat,
    write,
    hold: (bytes, bound) => requestMemory.hold(bytes, bound),
  });
  const running = await serveRequest(parts, request, options, sink, caller);
  // From here on, a worker has the request, or the request waits for a worker.
  requestMemory.endHeavyWork();
  const ended = running && (await awaitEnd(sink.ended, running, signal));
  if (!ended || 'error' in ended) return ended;
  await memory.reserveAnswer(ended.event.length, signal);
  return { event: ended.event.toString() };
}
