import type { Request, RequestHandler, Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import { nobody, type Job, type Placement } from '#shared/broker/dispatch/job.ts';
import type { Reservation, LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { modelNotFound } from '#shared/formats/model-not-found.ts';
import type { Operation } from '#shared/broker/contract/job-contract.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { Registry } from '#shared/registry/registry.ts';
import { addDefaults } from '#shared/serving/add-defaults.ts';
import { admit, nothing } from '../limits/admit.ts';
import { chooseLanes } from '#shared/serving/choose-lanes.ts';
import { ClientReply } from '../http/client-reply.ts';
import type { ModelFormat, RequestParameters } from '#shared/formats/client-format.ts';
import { estimateAmount, type PriceOf } from '#shared/serving/estimate-amount.ts';
import { modelDenied, permitsOf } from '#shared/serving/key-permits.ts';
import { passedHeaders } from '../http/passed-headers.ts';
import { receiveBody, type ReceiveParts } from '../http/receive-body.ts';
import type { FinishedJob } from '#shared/serving/record-job.ts';
import { requestIdOf } from '../http/request-id.ts';
import { resolveModel, type Resolved } from '#shared/serving/resolve-model.ts';
import { identityOf } from '../http/require-key.ts';
import { tiersFor } from '#shared/serving/tiers-for.ts';
import { traceOf } from '../http/trace-request.ts';
import { usedTokens } from '#shared/serving/used-tokens.ts';

export interface ServeParts extends ReceiveParts {
  dispatcher: Dispatcher;
  workers: LiveWorkers;
  registry: () => Registry;
  limits: Pick<LimitKeeper, 'reserve'>;
  priceOf: PriceOf;
  /** Hears of every job that was dispatched, once, when it is over. */
  record: (job: FinishedJob) => void;
}

/**
 * Serves one request to a model, from its body to its last byte:
 * read, check, choose lanes, dispatch, relay (`ClientReply`), and cancel when the client goes.
 */
export function serve(format: ModelFormat, operation: Operation, parts: ServeParts): RequestHandler {
  return async (request: Request, response: Response): Promise<void> => {
    // The body stays in there: whatever this function knows lives as long as the answer does.
    const dispatched = await dispatchRequest(request, response, format, operation, parts);
    if (!dispatched) return;
    const { job, asked, inputTokens, sink, reservation } = dispatched;
    const report = await job.finished;
    const usage = usedTokens(report, inputTokens, sink.relayedTokens);
    parts.record({ response, format, operation, asked, report, usage, reservation });
  };
}

/** A job, and what is needed of its request when it is over. */
interface Dispatched {
  job: Job;
  asked: string;
  inputTokens: number;
  sink: ClientReply;
  reservation: Reservation | undefined;
}

async function dispatchRequest(
  request: Request,
  response: Response,
  format: ModelFormat,
  operation: Operation,
  parts: ServeParts,
): Promise<Dispatched | undefined> {
  const received = await receiveBody(request, response, parts);
  if (!received) return undefined;
  const { body, parsed: given, releaseBody } = received;
  const { dispatcher, workers, registry, limits, priceOf } = parts;
  const parameters = readParameters(format, given, operation);
  const { models, auto } = registry();
  const permits = permitsOf(identityOf(response));
  if (!permits.allowsName(parameters.model)) throw modelDenied(parameters.model);
  const model = resolveModel(parameters.model, models);
  if (!isKnown(model, parameters.model, workers)) throw modelNotFound(parameters.model);
  const choose = (avoid: ReadonlySet<string>, rules = permits.allowsLane): Placement[] =>
    chooseLanes(
      { format: format.name, model, needs: parameters.needs },
      { auto, priceOf, permits: rules },
      workers.pools(),
      avoid,
    );
  if (permits.restricts && choose(nobody).length === 0 && choose(nobody, () => true).length > 0)
    throw modelDenied(parameters.model);
  const requestId = requestIdOf(response);
  const filled = model.kind === 'named' ? addDefaults(body, given, model.defaults) : body;
  const jobRequest = {
    requestId,
    operation,
    format: format.name,
    stream: parameters.stream,
    trace: traceOf(response),
    class: classOf(parameters, identityOf(response)),
    headers: passedHeaders(request.headers, format.passedHeaders),
    place: choose,
    tiers: () => tiersFor(model, { auto, workers, permits, placements: choose(nobody) }),
  };
  const sink = new ClientReply(response, format, requestId, parameters.stream, releaseBody);
  const reservation = await admit(response, format, limits, () =>
    operation === 'generate' ? estimateAmount(withDefault(parameters, model), choose(nobody), priceOf) : nothing,
  );
  if (response.destroyed) return undefined;
  const job = dispatcher.dispatch(jobRequest, filled, sink);
  response.on('close', () => dispatcher.cancel(job));
  return { job, asked: parameters.model, inputTokens: parameters.needs.inputTokens, sink, reservation };
}

/** Reads the parameters; a body that is valid but nested beyond what the stack holds is the client's fault, not the router's. */
function readParameters(format: ModelFormat, given: unknown, operation: Operation): RequestParameters {
  try {
    return format.readParameters(given, operation);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RouterError('invalid_request', 'The request is nested too deeply.', { cause: error });
  }
}

/** What the client wants at most, or what the registry sets for those who do not say. */
function withDefault(
  { needs, maxOutput }: RequestParameters,
  model: Resolved,
): Pick<RequestParameters, 'needs' | 'maxOutput'> {
  if (maxOutput !== undefined || model.kind === 'auto') return { needs, maxOutput };
  const preset = model.defaults['max_completion_tokens'] ?? model.defaults['max_tokens'];
  return { needs, maxOutput: typeof preset === 'number' ? preset : undefined };
}

function isKnown(model: Resolved, name: string, workers: LiveWorkers): boolean {
  return model.kind === 'auto' || model.isRegistered || workers.isKnownModel(name);
}

/** The key's class, unless the client asks for a lower one, or its key allows to ask for a higher one. */
function classOf({ serviceTier }: RequestParameters, identity: KeyIdentity): PriorityClass {
  if (serviceTier === 'flex') return 'low';
  if (serviceTier === 'priority' && identity.class !== 'low') return 'high';
  return identity.class;
}
