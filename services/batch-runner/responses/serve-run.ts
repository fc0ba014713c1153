import { storeOwnerOf, type KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { JsonObject } from '#shared/core/json.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { BackgroundAnswers } from '#shared/formats/background-answers.ts';
import type { ClientFormat, ClientRequest } from '#shared/formats/client-format.ts';
import type { NamedSession } from '#shared/serving/compute-affinity.ts';
import type { Caller } from '#shared/serving/caller.ts';
import { inlineFiles, type InputFiles } from '#shared/serving/files/inline-files.ts';
import { serveRequest } from '#shared/serving/serve-request.ts';
import type { ServingComponents } from '#shared/serving/serve-model.ts';
import {
  refersToStoredAnswers,
  resolveStored,
  withFields,
  type AnswerStore,
  type AnswerToStore,
} from '#shared/serving/stored/resolve-stored.ts';
import type { RequestPurpose } from '#shared/core/purpose.ts';
import { EventsSink, type StreamEnd } from './events-sink.ts';
import type { HeavyTask } from '../heavy-work.ts';
import { RequestMemory } from '../request-memory.ts';
import type { MemoryBudget } from '#shared/core/memory-budget.ts';

export interface ServeRunParts extends ServingComponents {
  answers: AnswerStore;
  inputFiles: InputFiles;
  /** Memory budget for requests and everything that they refer to. The input stays in memory, because it is stored with the answer. */
  requestBudget: MemoryBudget;
}

export interface ResponseRequest {
  body: string;
  headers?: Readonly<Record<string, string>> | undefined;
  session?: NamedSession | undefined;
  sentFor: RequestPurpose;
  /** Whether the original request is recorded. */
  isRecorded: boolean;
}

export interface ResponseRun {
  id: string;
  requestId: string;
  format: ClientFormat;
  /** Reads and writes events of the format. */
  shape: BackgroundAnswers;
  identity: KeyIdentity;
  heavyTask: HeavyTask;
  request: ResponseRequest;
  /** Number of the next event of the stream. */
  nextEvent: number;
  /** Called with further events, none of which ends the stream. */
  write: (events: string) => void;
}

/** Result of a run. */
export interface RunEnd {
  /** End of the stream; undefined if the signal aborted first. */
  end: StreamEnd | undefined;
  /** What is stored with the answer; undefined if the answer is not stored. */
  toStore: AnswerToStore | undefined;
}

/** Types the stored JSON as a request; the fields are not checked. */
export function asResponseRequest(stored: JsonObject): ResponseRequest {
  return stored as unknown as ResponseRequest;
}

/** Serves the request of a response once, as the ingress serves requests of connected clients. */
export async function serveRun(parts: ServeRunParts, run: ResponseRun, signal: AbortSignal): Promise<RunEnd> {
  let toStore: AnswerToStore | undefined;
  const requestMemory = new RequestMemory(parts.requestBudget, run.heavyTask);
  try {
    const resolved = await resolveRequest(parts, run, requestMemory);
    ({ toStore } = resolved);
    return { end: await serveResolved(parts, run, resolved.request, requestMemory, signal), toStore };
  } catch (error) {
    return { end: { error: asRouterError(error) }, toStore };
  } finally {
    requestMemory.release();
  }
}

async function resolveRequest(
  { answers, inputFiles }: ServeRunParts,
  { id, format, identity, request: storedRequest }: ResponseRun,
  requestMemory: RequestMemory,
): Promise<{ request: ClientRequest; toStore: AnswerToStore | undefined }> {
  const owner = storeOwnerOf(identity);
  const body = Buffer.from(storedRequest.body);
  await requestMemory.reserve(body.length);
  const clientRequest = format.read(body, 'generate');
  // Stored objects may be large, and their size is known only after they are read.
  if (refersToStoredAnswers(clientRequest)) await requestMemory.beginHeavyWork();
  const resolved = await resolveStored(answers, format, 'generate', clientRequest, owner, id);
  const { request: whole, fields, addedBytes, toStore } = resolved;
  await requestMemory.reserve(addedBytes);
  const inlining = { format, operation: 'generate', owner, onBytes: requestMemory.reserve } as const;
  const inlined = whole.files ? await inlineFiles(inputFiles, whole, inlining) : whole;
  return { request: withFields(inlined, fields), toStore };
}

async function serveResolved(
  parts: ServeRunParts,
  { id, requestId, format, shape, identity, request: storedRequest, nextEvent, write }: ResponseRun,
  request: ClientRequest,
  requestMemory: RequestMemory,
  signal: AbortSignal,
): Promise<StreamEnd | undefined> {
  const { name, sealsAnswers = false, openStream } = format;
  const { headers, session, sentFor, isRecorded } = storedRequest;
  const read = (body: Buffer): ClientRequest => format.read(body, 'generate');
  const formatFields = { format: name, operation: 'generate', sealsAnswers, answerId: id, read, openStream } as const;
  const caller: Caller = {
    requestId,
    identity,
    trace: undefined,
    isRecorded,
    onLimitStatus: () => undefined,
    isGone: () => signal.aborted,
  };
  const answer = openStream({ requestId, answerId: id, nextEvent });
  const sink = new EventsSink({ answer, shape, write });
  const running = await serveRequest(
    parts,
    { ...request, ...formatFields, headers, session, sentFor, maxWaitMs: undefined },
    sink,
    caller,
  );
  // From here on, a worker has the request, or the request waits for a worker.
  requestMemory.endHeavyWork();
  if (!running) return undefined;
  signal.addEventListener('abort', running.cancel, { once: true });
  if (signal.aborted) running.cancel();
  try {
    const cancelled = running.finished.then(() => (signal.aborted ? undefined : sink.ended));
    const end = await Promise.race([sink.ended, cancelled]);
    await running.finished;
    return end;
  } finally {
    signal.removeEventListener('abort', running.cancel);
  }
}

function asRouterError(error: unknown): RouterError {
  if (error instanceof RouterError) return error;
  return new RouterError('internal', 'The router failed.', { cause: error });
}
