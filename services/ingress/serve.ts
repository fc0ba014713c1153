import type { Request, RequestHandler, Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import type { KeyIdentity } from '#shared/accounts/key-record.ts';
import type { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import type { Job, JobReport } from '#shared/broker/dispatch/job.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/live-workers.ts';
import { modelNotFound } from '#shared/protocol/model-not-found.ts';
import type { Operation } from '#shared/broker/job-contract.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { Registry } from '#shared/registry/registry.ts';
import { addDefaults } from './add-defaults.ts';
import { chooseLanes } from './choose-lanes.ts';
import { ClientReply } from './client-reply.ts';
import type { EdgeFamily, EdgeFormat, Wish } from './edge-family.ts';
import { passedHeaders } from './passed-headers.ts';
import { receiveBody, type ReceiveParts } from './receive-body.ts';
import { requestIdOf } from './request-id.ts';
import { resolveModel, type Resolved } from './resolve-model.ts';
import { identityOf } from './require-key.ts';

export interface ServeParts extends ReceiveParts {
  dispatcher: Dispatcher;
  workers: LiveWorkers;
  registry: () => Registry;
  /** Hears of every job that was dispatched, once, when it is over. */
  record: (response: Response, family: EdgeFormat, report: JobReport) => void;
}

/**
 * Serves one request to a model, from its body to its last byte:
 * read, check, choose lanes, dispatch, relay (`ClientReply`), and cancel when the client goes.
 */
export function serve(family: EdgeFamily, operation: Operation, parts: ServeParts): RequestHandler {
  return async (request: Request, response: Response): Promise<void> => {
    // The body stays in there: whatever this function knows lives as long as the answer does.
    const job = await dispatchRequest(request, response, family, operation, parts);
    if (job) parts.record(response, family, await job.finished);
  };
}

async function dispatchRequest(
  request: Request,
  response: Response,
  family: EdgeFamily,
  operation: Operation,
  parts: ServeParts,
): Promise<Job | undefined> {
  const received = await receiveBody(request, response, parts);
  if (!received) return undefined;
  const { body, parsed: given, releaseBody } = received;
  const { dispatcher, workers, registry } = parts;
  const wish = readWish(family, given, operation);
  const { models, ...rules } = registry();
  const model = resolveModel(wish.model, models);
  if (!isKnown(model, wish.model, workers)) throw modelNotFound(wish.model);
  const requestId = requestIdOf(response);
  const sink = new ClientReply(response, family, requestId, wish.stream, releaseBody);
  const job = dispatcher.dispatch(
    {
      requestId,
      operation,
      family: family.name,
      stream: wish.stream,
      class: classOf(wish, identityOf(response)),
      headers: passedHeaders(request.headers, family.passedHeaders),
      body: model.kind === 'named' ? addDefaults(body, given, model.defaults) : body,
      place: (avoid) => chooseLanes({ model, needs: wish.needs }, rules, workers.pools(), avoid),
    },
    sink,
  );
  response.once('close', () => dispatcher.cancel(job));
  return job;
}

/** Reads the wish; a body that is valid but nested beyond what the stack holds is the client's fault, not the router's. */
function readWish(family: EdgeFamily, given: unknown, operation: Operation): Wish {
  try {
    return family.readWish(given, operation);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RouterError('invalid_request', 'The request is nested too deeply.', { cause: error });
  }
}

function isKnown(model: Resolved, name: string, workers: LiveWorkers): boolean {
  return model.kind === 'auto' || model.isRegistered || workers.isKnownModel(name);
}

/** The key's class, unless the client asks for a lower one, or its key allows to ask for a higher one. */
function classOf({ serviceTier }: Wish, identity: KeyIdentity): PriorityClass {
  if (serviceTier === 'flex') return 'low';
  if (serviceTier === 'priority' && identity.class !== 'low') return 'high';
  return identity.class;
}
