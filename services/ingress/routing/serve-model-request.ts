import type { IncomingHttpHeaders } from 'node:http';
import type { Request, Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import type { ClientFormat, ClientRequest, ClientRoute } from '#shared/formats/client-format.ts';
import type { RunningRequest } from '#shared/serving/run-job.ts';
import { ReshapedSink } from '#shared/serving/reshaped-sink.ts';
import { prepareRequest, type PrepareComponents } from '#shared/serving/prepare-request.ts';
import type { RequestOptions } from '#shared/serving/request-options.ts';
import { serveRequest, type RequestComponents } from '#shared/serving/serve-request.ts';
import { answerInBackground, type AnswerInBackgroundParts } from '../background/answer-in-background.ts';
import { streamBackground } from '../background/stream-background.ts';
import { receiveFormBody } from '../files/receive-form-body.ts';
import { ClientReply } from '../http/client-reply.ts';
import type { AnsweringHandler } from '../idempotency/keyed-request.ts';
import { readContinuePermission, readMaxWait } from '../http/read-request-headers.ts';
import { receiveBody } from '../http/receive-body.ts';
import { getRequestContext } from '../http/request-context.ts';
import type { RequestParts } from '../http/request-parts.ts';
import { readSession } from '../http/read-session.ts';
import type { Recorder } from '../recording/recorder.ts';
import { pickPassedHeaders } from './pick-passed-headers.ts';
import { detectPurpose } from './purpose/detect-purpose.ts';

export type ServeParts = RequestParts &
  PrepareComponents &
  RequestComponents &
  AnswerInBackgroundParts & {
    /** Records the requests of keys for which recording is switched on; undefined if it is switched off in this ingress. */
    recorder: Pick<Recorder, 'begin'> | undefined;
  };

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
  const { headers } = request;
  const context = getRequestContext(response);
  context.format = format;
  const refusal = mayIgnoreRateLimit(headers, format) ? undefined : parts.findKnownRefusal(context.identity.limits);
  if (refusal) throw refusal;
  const receive = isForm === true ? receiveFormBody : receiveBody;
  const body = await receive(request, response, parts);
  if (!body) return undefined;
  const recording = context.identity.isRecorded && parts.recorder?.begin(request, response, format.name, body);
  const client = format.read(reshape ? reshape.request(body) : body, operation);
  if (recording) {
    context.isRecorded = true;
    recording.model = client.parameters.model;
    recording.turn = detectPurpose(headers, client.parameters.signs).turn;
  }
  if (client.background) {
    if (!reshape) return startBackground(request, response, format, client, parts);
    const message = 'Requests to this path are not served in the background.';
    throw new RouterError('unsupported_parameter', message, { param: 'background' });
  }
  const { memory, requestId } = context;
  const prepared = await prepareRequest(parts, { format, operation, client }, context, memory);
  if (!prepared) return undefined;
  const { answerId } = prepared;
  const { parameters, repeated } = prepared.client;
  const { stream } = parameters;
  const { unreadOutputs } = parts;
  const reply = new ClientReply(response, { format, requestId, answerId, repeated, stream, unreadOutputs, memory });
  context.reply = reply;
  const options: RequestOptions = {
    headers: pickPassedHeaders(headers, format.passedHeaders),
    session: readSession(headers),
    sentFor: detectPurpose(headers, parameters.signs),
    maxWaitMs: readMaxWait(headers),
    continues: readContinuePermission(headers),
  };
  const sink = reshape ? new ReshapedSink(reply, reshape.answer) : reply;
  try {
    return reply.follow(await serveRequest(parts, prepared, options, sink, context));
  } catch (error) {
    context.requestedName = parameters.model;
    throw error;
  }
}

async function startBackground(
  { headers }: Request,
  response: Response,
  format: ClientFormat,
  client: ClientRequest,
  parts: ServeParts,
): Promise<Pick<RunningRequest, 'finished'> | undefined> {
  const context = getRequestContext(response);
  const options: RequestOptions = {
    headers: pickPassedHeaders(headers, format.passedHeaders),
    session: readSession(headers),
    sentFor: detectPurpose(headers, client.parameters.signs),
  };
  // From here on, the answer is made and paid for even if the client leaves.
  context.keyed?.runUncancelled();
  const streamRequest = await answerInBackground(response, format, client, options, parts);
  context.memory.releaseBody();
  // The client may leave at any time without stopping the answer.
  return streamRequest && { finished: streamBackground(response, streamRequest, parts.background) };
}

/**
 * Returns whether the body of a request is read even if a rate limit of its key is exhausted. Only the body shows whether the limit
 * applies, because the answer may exist already, or may be made in the background.
 */
function mayIgnoreRateLimit(headers: IncomingHttpHeaders, { background }: ClientFormat): boolean {
  return background !== undefined || headers['idempotency-key'] !== undefined;
}
