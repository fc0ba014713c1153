import type { IncomingHttpHeaders } from 'node:http';
import type { Request, Response } from 'express';
import type { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { RouterError } from '#shared/core/errors.ts';
import { pickHeaders } from '#shared/core/pick-headers.ts';
import type { ClientFormat, ClientRequest, ClientRoute } from '#shared/formats/client-format.ts';
import type { RunningRequest } from '#shared/serving/run-job.ts';
import { ReshapedSink } from '#shared/serving/reshaped-sink.ts';
import { prepareRequest, type PrepareComponents } from '#shared/serving/prepare-request.ts';
import { serveRequest, type RequestComponents } from '#shared/serving/serve-request.ts';
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

export interface ServeParts extends ReceiveParts, PrepareComponents, RequestComponents, AnswerInBackgroundParts {
  unreadOutputs: UnreadOutputs;
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
  const caller = new HttpCaller(response, format);
  const recording = caller.identity.isRecorded && parts.recorder?.begin(request, response, format.name, received.body);
  const client = format.read(reshape ? reshape.request(received.body) : received.body, operation);
  if (recording) {
    caller.isRecorded = true;
    recording.model = client.parameters.model;
    recording.turn = detectPurpose(request.headers, client.parameters.signs).turn;
  }
  if (client.background) {
    if (reshape) {
      const message = 'Requests to this path are not served in the background.';
      throw new RouterError('unsupported_parameter', message, { param: 'background' });
    }
    const context = readContext(request.headers, format, client);
    // From here on, the answer is made and paid for even if the client leaves.
    runUncancelled(response);
    const { isRecorded } = caller;
    const wanted = await answerInBackground(response, { format, request: client, isRecorded, ...context }, parts);
    received.releaseBody();
    // The client may leave at any time without stopping the answer.
    return wanted && { finished: streamBackground(response, wanted, parts.background) };
  }
  const account = { reserve: received.grow };
  const prepared = await prepareRequest(parts, { format, operation, client }, caller, account);
  if (!prepared) return undefined;
  const { answerId } = prepared;
  const { parameters, repeated } = prepared.client;
  const { requestId } = caller;
  const { stream } = parameters;
  const { unreadOutputs } = parts;
  const { grow: hold, releaseBody: onBegin } = received;
  const opening = { format, requestId, answerId, repeated };
  const reply = new ClientReply(response, { ...opening, stream, unreadOutputs, onBegin, hold });
  setReply(response, reply);
  const sink = reshape ? new ReshapedSink(reply, reshape.answer) : reply;
  const options = {
    ...readContext(request.headers, format, prepared.client),
    maxWaitMs: readMaxWait(request.headers),
    continues: readContinuePermission(request.headers),
  };
  try {
    const running = await serveRequest(parts, prepared, options, sink, caller);
    return reply.failWhenUnread(caller.cancelOnDisconnect(running));
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
