import type { Request, RequestHandler, Response } from 'express';
import type { ClientFormat, ClientRoute } from '#shared/formats/client-format.ts';
import type { RunningRequest } from '#shared/serving/run-job.ts';
import { serveModel, type ServingParts } from '#shared/serving/serve-model.ts';
import { HttpCaller } from '../http/http-caller.ts';
import { ClientReply } from '../http/client-reply.ts';
import { passedHeaders } from '../http/passed-headers.ts';
import { receiveBody, type ReceiveParts } from '../http/receive-body.ts';

export interface ServeParts extends ReceiveParts, ServingParts {}

/** Serves one request to a model, from its body to its last byte: receive, read, serve, and cancel when the client goes. */
export function serveModelRequest(
  format: ClientFormat,
  operation: ClientRoute['operation'],
  parts: ServeParts,
): RequestHandler {
  return async (request, response) => {
    // The body stays in `start`: whatever this function holds lives as long as the answer does.
    const running = await start(request, response, format, operation, parts);
    await running?.finished;
  };
}

async function start(
  request: Request,
  response: Response,
  format: ClientFormat,
  operation: ClientRoute['operation'],
  parts: ServeParts,
): Promise<RunningRequest | undefined> {
  const received = await receiveBody(request, response, parts);
  if (!received) return undefined;
  const { parameters, withDefaults } = format.read(received.body, operation);
  const caller = new HttpCaller(response, format);
  const sink = new ClientReply(response, format, caller.requestId, parameters.stream, received.releaseBody);
  const headers = passedHeaders(request.headers, format.passedHeaders);
  const asked = { parameters, withDefaults, format: format.name, operation, headers };
  return caller.cancels(await serveModel(parts, asked, sink, caller));
}
