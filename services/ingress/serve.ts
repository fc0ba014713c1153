import type { Request, RequestHandler, Response } from 'express';
import type { KeyIdentity } from '#shared/accounts/key-record.ts';
import type { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import type { JobReport } from '#shared/broker/dispatch/job.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/live-workers.ts';
import { modelNotFound } from '#shared/protocol/model-not-found.ts';
import type { Operation } from '#shared/broker/job-contract.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import { autoModel, chooseLanes } from './choose-lanes.ts';
import { ClientReply } from './client-reply.ts';
import type { EdgeFamily, Wish } from './edge-family.ts';
import type { HeldBodies } from './held-bodies.ts';
import { parseBody, type ReadBody } from './read-body.ts';
import { requestIdOf } from './request-id.ts';
import { identityOf } from './require-key.ts';

export interface ServeParts {
  dispatcher: Dispatcher;
  workers: LiveWorkers;
  readBody: ReadBody;
  held: HeldBodies;
  /** Hears of every job that was dispatched, once, when it is over. */
  record: (response: Response, family: EdgeFamily, report: JobReport) => void;
}

/**
 * Serves one request to a model, from its body to its last byte:
 * read, check, choose lanes, dispatch, relay (`ClientReply`), and cancel when the client goes.
 */
export function serve(
  family: EdgeFamily,
  operation: Operation,
  { dispatcher, workers, readBody, held, record }: ServeParts,
): RequestHandler {
  return async (request: Request, response: Response): Promise<void> => {
    const body = await readBody(request, response);
    if (response.destroyed) return;
    const wish = family.readWish(parseBody(body), operation);
    if (wish.model !== autoModel && !workers.isKnownModel(wish.model)) throw modelNotFound(wish.model);
    const letGo = held.hold(body.length);
    const requestId = requestIdOf(response);
    const sink = new ClientReply(response, family, requestId, wish.stream);
    const job = dispatcher.dispatch(
      {
        requestId,
        operation,
        family: family.name,
        stream: wish.stream,
        class: classOf(wish, identityOf(response)),
        body,
        place: (avoid) => chooseLanes(wish, workers.pools(), avoid),
      },
      sink,
    );
    response.once('close', () => dispatcher.cancel(job));
    const report = await job.finished;
    letGo();
    record(response, family, report);
  };
}

/** The key's class, unless the client asks for a lower one, or its key allows to ask for a higher one. */
function classOf({ serviceTier }: Wish, identity: KeyIdentity): PriorityClass {
  if (serviceTier === 'flex') return 'low';
  if (serviceTier === 'priority' && identity.class !== 'low') return 'high';
  return identity.class;
}
