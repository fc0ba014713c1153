import type { Request, RequestHandler, Response } from 'express';
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
import type { EdgeFamily, Wish } from './edge-family.ts';
import type { HeldBodies } from './held-bodies.ts';
import { passedHeaders } from './passed-headers.ts';
import { parseBody, type ReadBody } from './read-body.ts';
import { requestIdOf } from './request-id.ts';
import { resolveModel, type Resolved } from './resolve-model.ts';
import { identityOf } from './require-key.ts';

export interface ServeParts {
  dispatcher: Dispatcher;
  workers: LiveWorkers;
  readBody: ReadBody;
  held: HeldBodies;
  registry: () => Registry;
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
  { dispatcher, workers, readBody, held, registry, record }: ServeParts,
): RequestHandler {
  return async (request: Request, response: Response): Promise<void> => {
    const begun = begin(await readBody(request, response), response);
    if (!begun) return;
    const report = await begun.job.finished;
    begun.letGo();
    record(response, family, report);
  };

  /** Apart from the handler, whose variables live as long as the answer: the body, which may be large, need not. */
  function begin(body: Buffer, response: Response): { job: Job; letGo: () => void } | undefined {
    if (response.destroyed) return undefined;
    const given = parseBody(body);
    const wish = family.readWish(given, operation);
    const { models, ...rules } = registry();
    const model = resolveModel(wish.model, models);
    if (!isKnown(model, wish.model, workers)) throw modelNotFound(wish.model);
    const headers = passedHeaders(response.req.headers, family.passedHeaders);
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
        headers,
        body: model.kind === 'named' ? addDefaults(body, given, model.defaults) : body,
        place: (avoid) => chooseLanes({ model, needs: wish.needs }, rules, workers.pools(), avoid),
      },
      sink,
    );
    response.once('close', () => dispatcher.cancel(job));
    return { job, letGo };
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
