import type { LimitKeeper, Reservation } from '#shared/accounts/limits/limit-keeper.ts';
import type { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import type { RequestParameters } from '#shared/formats/client-format.ts';
import { noDefaults, type ResolvedModel } from './resolve-model.ts';
import type { PersonalTools } from './connected/personal-tools.ts';
import { createModelJob, type ModelJobParts } from './create-model-job.ts';
import { createHedgingDispatcher } from './hedging/hedged-job.ts';
import type { Hedges } from './hedging/hedges.ts';
import { estimateAmount } from './estimate-amount.ts';
import { findLanes, type LaneParts } from './find-lanes.ts';
import type { FinishedRequest } from './usage-record.ts';
import type { Caller } from './caller.ts';
import type { PreparedRequest } from './prepare-request.ts';
import type { RequestOptions } from './request-options.ts';
import { zeroAmount, reserve } from './reserve.ts';
import { runJob, type RunningRequest } from './run-job.ts';
import { createSplitDispatcher } from './splitting/split-job.ts';
import { computeUsage } from './compute-usage.ts';

/** The components with which a process serves requests. One object per process. */
export interface ServingComponents extends ModelJobParts, LaneParts {
  dispatcher: Pick<Dispatcher, 'dispatch' | 'cancel' | 'fail'>;
  limits: Pick<LimitKeeper, 'reserve'>;
  hedges: Hedges;
  /** The tools of MCP servers that people have linked; undefined if there are no such servers. */
  personalTools?: PersonalTools | undefined;
  /** Called once for every dispatched request, when it has ended. */
  record: (request: FinishedRequest) => void;
}

export interface ModelSink extends JobSink {
  /** Estimated tokens of a streamed answer that were relayed. */
  readonly relayedTokens: number;
  /** Keeps the request's body until the answer ends. Without this call, the body is kept only until the answer begins. */
  keepBody?(): void;
  /**
   * Counts bytes that are kept in memory until the answer is complete.
   * @throws RouterError `overloaded` if too many bytes are kept
   */
  hold?(bytes: number, bound: MemoryBound): void;
}

/**
 * What bounds the memory of a request: the share of its owner, or only the memory of the process. What a running answer adds to itself is
 * bounded by the process, because otherwise the owner's next requests would end it in the middle.
 */
export type MemoryBound = 'owner' | 'process';

/**
 * Serves one request to a model, independent of HTTP: resolves the name, checks the key's permits, chooses lanes, reserves the estimated
 * amount, dispatches the job and records the request.
 * @returns the running request; undefined if the caller has left
 * @throws RouterError `permission_denied`, the error of `explainNoLane` if no worker can serve the request in time, or an error of
 * `findLanes` or `reserve`
 */
export async function serveModel(
  parts: ServingComponents,
  request: PreparedRequest,
  options: RequestOptions,
  sink: ModelSink,
  caller: Caller,
): Promise<RunningRequest | undefined> {
  const { dispatcher, limits, priceOf, hedges, noWorkerMs, record } = parts;
  const { client, operation } = request;
  const { parameters, divisible } = client;
  const { needs, units } = parameters;
  const { name: format } = request.format;
  const { sentFor, maxWaitMs } = options;
  const lanes = findLanes(parts, { parameters, operation, format }, caller.identity, sentFor, request.model);
  const { name } = lanes;
  const { model } = lanes.choice;
  const refusal = lanes.isEmpty ? lanes.explainNone({ noWorkerMs, maxWaitMs }) : undefined;
  if (refusal && !refusal.waits) throw refusal.error;
  const defaults = model.kind === 'named' ? model.defaults : noDefaults;
  const body = client.withDefaults(defaults);
  const maxOutput = findOutputLimit(parameters, model);
  const isCount = operation === 'count_tokens';
  const job = createModelJob(parts, request, options, caller, lanes);
  const splitting =
    divisible && options.isWhole !== true ? createSplitDispatcher(dispatcher, divisible, defaults) : undefined;
  // From here on, nothing may throw before `runJob`, which releases the reservation if the job cannot begin.
  let reservation: Reservation | undefined;
  // A key without limits needs no call to Redis.
  if (caller.identity.limits.length > 0) {
    const amount = isCount ? zeroAmount : estimateAmount({ needs, maxOutput, units }, lanes.findPlacements(), priceOf);
    reservation = await reserve(limits, caller, amount);
  }
  const turn = isCount ? undefined : sentFor.turn;
  const { purpose } = sentFor;
  const bounds = { needs, maxOutput, units, bodyBytes: body.length };
  // Variables that this function uses stay in memory until the answer has ended. The function therefore uses neither the request nor its
  // body.
  const onEnd = (report: JobReport, reserved: Reservation | undefined): void => {
    const usage = computeUsage(report, bounds, sink.relayedTokens);
    // A worker may report any usage. The capped usage replaces it.
    if (report.end) report.end.usage = usage;
    record({ origin: caller, format, operation, asked: name, purpose, turn, report, usage, reservation: reserved });
  };
  if (splitting) return runJob(splitting, job, body, sink, caller, reservation, onEnd);
  if (!job.stream || operation !== 'generate' || model.kind === 'auto' || !model.hedge.includes(job.class))
    return runJob(dispatcher, job, body, sink, caller, reservation, onEnd);
  const hedging = createHedgingDispatcher({ dispatcher, hedges, name });
  return runJob(hedging, job, body, sink, caller, reservation, onEnd);
}

/** Returns the client's limit of output tokens. For a request without a limit, returns the registry's default. */
function findOutputLimit({ maxOutput }: RequestParameters, model: ResolvedModel): number | undefined {
  if (maxOutput !== undefined || model.kind === 'auto') return maxOutput;
  const defaultLimit = model.defaults['max_completion_tokens'] ?? model.defaults['max_tokens'];
  return typeof defaultLimit === 'number' ? defaultLimit : undefined;
}
