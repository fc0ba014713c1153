import type { IncomingHttpHeaders } from 'node:http';
import type { Request, Response } from 'express';
import type { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { storeOwnerOf } from '#shared/accounts/keys/key-record.ts';
import { RouterError } from '#shared/core/errors.ts';
import { pickHeaders } from '#shared/core/pick-headers.ts';
import { createAnswerId } from '#shared/formats/answer-id.ts';
import type { ClientFormat, ClientRequest, ClientRoute } from '#shared/formats/client-format.ts';
import type { RunningRequest } from '#shared/serving/run-job.ts';
import { ReshapedSink } from '#shared/serving/reshaped-sink.ts';
import type { ModelSink, ServingComponents } from '#shared/serving/serve-model.ts';
import { serveRequest } from '#shared/serving/serve-request.ts';
import { inlineFiles, type InputFiles } from '#shared/serving/files/inline-files.ts';
import { type AnswerStore, resolveStored, withFields } from '#shared/serving/stored/resolve-stored.ts';
import type { AnswerStorer } from '#shared/serving/stored/answer-storer.ts';
import { createStoringSink } from '#shared/serving/stored/storing-sink.ts';
import { answerInBackground, type AnswerInBackgroundParts } from '../background/answer-in-background.ts';
import { streamBackground } from '../background/stream-background.ts';
import { receiveFormBody } from '../files/receive-form-body.ts';
import { HttpCaller } from '../http/http-caller.ts';
import { ClientReply } from '../http/client-reply.ts';
import { runUncancelled } from '../idempotency/claim-key.ts';
import type { AnsweringHandler } from '../idempotency/keyed-request.ts';
import { setRequestedName } from '../http/refused-request.ts';
import { setReply } from '../http/reply-of.ts';
import { readContinuePermission } from '../http/read-continue-permission.ts';
import { readMaxWait } from '../http/read-max-wait.ts';
import { receiveBody, type ReceiveParts } from '../http/receive-body.ts';
import { identityOf } from '../http/require-key.ts';
import { readSession } from '../http/read-session.ts';
import type { Recorder } from '../recording/recorder.ts';
import { detectPurpose } from './purpose/detect-purpose.ts';
import type { UnreadOutputs } from '../http/unread/unread-outputs.ts';

/** Largest length of a header that is sent to an upstream. The longest one in use, `anthropic-beta`, lists about a dozen names. */
const maxHeaderLength = 4096;

export interface ServeParts
  extends ReceiveParts, ServingComponents, Omit<AnswerInBackgroundParts, keyof ServingComponents> {
  unreadOutputs: UnreadOutputs;
  answers: AnswerStore;
  storer: AnswerStorer;
  inputFiles: InputFiles;
  /** Milliseconds without a byte after which a form is refused. */
  bodyTimeoutMs: number;
  knownRefusal: LimitKeeper['findKnownRefusal'];
  /** Records the requests of keys for which recording is switched on; undefined if it is switched off in this ingress. */
  recorder: Pick<Recorder, 'begin'> | undefined;
}

/** Creates the handler of a model route. The handler receives the body, serves the request, and cancels it when the client disconnects. */
export function serveModelRequest(format: ClientFormat, route: ClientRoute, parts: ServeParts): AnsweringHandler {
  return async (request, response) => {
    // Only `startServing` has the body in a local variable, because local variables of this handler live as long as the answer.
    const running = await startServing(request, response, format, route, parts);
    await running?.finished;
  };
}

async function startServing(
  request: Request,
  response: Response,
  format: ClientFormat,
  { operation, reshape, isForm }: ClientRoute,
  parts: ServeParts,
): Promise<Pick<RunningRequest, 'finished'> | undefined> {
  const refusal = mayIgnoreRateLimit(request, format) ? undefined : parts.knownRefusal(identityOf(response).limits);
  if (refusal) throw refusal;
  const receive = isForm === true ? receiveFormBody : receiveBody;
  const received = await receive(request, response, parts);
  if (!received) return undefined;
  const read = (body: Buffer): ClientRequest => format.read(body, operation);
  const caller = new HttpCaller(response, format);
  const recording = caller.identity.isRecorded && parts.recorder?.begin(request, response, format.name, received.body);
  const owner = storeOwnerOf(caller.identity);
  const clientRequest = read(reshape ? reshape.request(received.body) : received.body);
  if (recording) {
    caller.isRecorded = true;
    recording.model = clientRequest.parameters.model;
    recording.turn = detectPurpose(request.headers, clientRequest.parameters.signs).turn;
  }
  if (clientRequest.background) {
    if (reshape) {
      const message = 'Requests to this path are not served in the background.';
      throw new RouterError('unsupported_parameter', message, { param: 'background' });
    }
    const context = readContext(request.headers, format, clientRequest);
    // From here on, the answer is made and paid for even if the client leaves.
    runUncancelled(response);
    const { isRecorded } = caller;
    const wanted = await answerInBackground(
      response,
      { format, request: clientRequest, isRecorded, ...context },
      parts,
    );
    received.releaseBody();
    // The client may leave at any time without stopping the answer.
    return wanted && { finished: streamBackground(response, wanted, parts.background) };
  }
  const { answers } = parts;
  const {
    request: whole,
    fields,
    addedBytes,
    toStore,
  } = await resolveStored(answers, format, operation, clientRequest, owner);
  if (response.destroyed) return undefined;
  received.grow(addedBytes);
  const inlining = { format, operation, owner, onBytes: received.grow };
  const inlined = whole.files ? await inlineFiles(parts.inputFiles, whole, inlining) : whole;
  if (response.destroyed) return undefined;
  const resolved = withFields(inlined, fields);
  const { parameters, withDefaults, hosted, divisible, repeated } = resolved;
  const { requestId } = caller;
  const { stream } = parameters;
  const { unreadOutputs } = parts;
  const answerId = format.opensAnswers === true && operation === 'generate' ? createAnswerId(format) : undefined;
  const opening = { requestId, answerId, repeated };
  const { grow: hold, releaseBody: onBegin } = received;
  const reply = new ClientReply(response, { format, ...opening, stream, unreadOutputs, onBegin, hold });
  setReply(response, reply);
  // The input of a stored answer stays in memory until the answer is complete.
  if (toStore) reply.keepBody();
  let sink: ModelSink = reply;
  if (reshape) sink = new ReshapedSink(sink, reshape.answer);
  if (toStore && format.stored)
    sink = createStoringSink(sink, { caller, owner, format: format.stored, stream, toStore, storer: parts.storer });
  const requestContext = readContext(request.headers, format, resolved);
  const maxWaitMs = readMaxWait(request.headers);
  const continues = readContinuePermission(request.headers);
  const { name, sealsAnswers = false, openStream } = format;
  const servable = {
    parameters,
    withDefaults,
    hosted,
    divisible,
    read,
    openStream,
    format: name,
    operation,
    sealsAnswers,
    answerId,
  };
  const modelRequest = { ...servable, ...requestContext, maxWaitMs, continues };
  try {
    return reply.failWhenUnread(caller.cancelOnDisconnect(await serveRequest(parts, modelRequest, sink, caller)));
  } catch (error) {
    setRequestedName(response, parameters.model);
    throw error;
  }
}

/**
 * Returns whether the body of a request is read even if a rate limit of its key is exhausted. Only the body shows whether the limit
 * applies, because the answer may exist already, or may be made in the background.
 */
function mayIgnoreRateLimit({ headers }: Request, { background }: ClientFormat): boolean {
  return background !== undefined || headers['idempotency-key'] !== undefined;
}

function readContext(headers: IncomingHttpHeaders, format: ClientFormat, { parameters }: ClientRequest) {
  return {
    headers: pickPassedHeaders(headers, format.passedHeaders),
    session: readSession(headers),
    sentFor: detectPurpose(headers, parameters.signs),
  };
}

/**
 * Returns those headers of the client that an upstream of the same format receives; undefined if the client sent none of them.
 * @throws RouterError `headers_too_large` for a header that is too long
 */
export function pickPassedHeaders(
  headers: IncomingHttpHeaders,
  names: readonly string[],
): Record<string, string> | undefined {
  const passed = pickHeaders(headers, names);
  for (const [name, { length }] of Object.entries(passed)) {
    if (length > maxHeaderLength)
      throw new RouterError('headers_too_large', `The header ${name} is longer than ${maxHeaderLength} characters.`);
  }
  return Object.keys(passed).length === 0 ? undefined : passed;
}
