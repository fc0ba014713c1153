import { storeOwnerOf, type KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { LimitKeeper, Reservation } from '#shared/accounts/limits/limit-keeper.ts';
import type { OwnerKeys } from '#shared/accounts/secrets/owner-keys.ts';
import type { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { JobSink } from '#shared/broker/dispatch/job-sink.ts';
import type { JobRequest, RunningAgentTurn } from '#shared/broker/dispatch/job-request.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { AgentTurn } from '#shared/core/agent-turn.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { RequestParameters } from '#shared/formats/client-format.ts';
import type { ResolvedModel } from './resolve-model.ts';
import type { Registry } from '#shared/registry/registry.ts';
import type { PersonalTools } from './connected/personal-tools.ts';
import { computeAffinity } from './compute-affinity.ts';
import { HedgedJob } from './hedging/hedged-job.ts';
import type { Hedges } from './hedging/hedges.ts';
import { estimateAmount, type PriceLookup } from './estimate-amount.ts';
import { findLanes } from './find-lanes.ts';
import type { FinishedRequest } from './usage-record.ts';
import type { Caller } from './caller.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { getQueueSender } from './queue-sender.ts';
import type { RequestOptions } from './request-options.ts';
import { zeroAmount, reserve } from './reserve.ts';
import { runJob, type JobDispatcher, type RunningRequest } from './run-job.ts';
import { createSplitDispatcher } from './splitting/split-job.ts';
import { computeUsage } from './compute-usage.ts';

/** One object per process. */
export interface ServingComponents {
  dispatcher: Pick<Dispatcher, 'dispatch' | 'cancel' | 'fail'>;
  workers: LiveWorkers;
  registry: () => Registry;
  limits: Pick<LimitKeeper, 'reserve'>;
  priceOf: PriceLookup;
  hedges: Hedges;
  ownerKeys: Pick<OwnerKeys, 'deriveGrantKeys'>;
  /** The tools of the MCP servers that each person has linked; undefined if there are none. */
  personalTools?: PersonalTools | undefined;
  /** Milliseconds that a request waits while no worker can serve it. */
  noWorkerMs: number;
  /** Called once for every dispatched request, when it has ended. */
  record: (request: FinishedRequest) => void;
}

export interface ModelSink extends JobSink {
  /** Estimated tokens of a streamed answer that were relayed. */
  readonly relayedTokens: number;
  /** Keeps the request's body until the answer has ended, rather than until it begins. */
  keepBody?(): void;
  /**
   * Counts bytes of the answer that are kept in memory until it is complete.
   * @throws RouterError `overloaded` if too many bytes are kept
   */
  hold?(bytes: number): void;
}

/**
 * Serves one request to a model, independent of HTTP: resolves the name, checks the key's permits, chooses lanes, reserves the estimated
 * amount, dispatches the job and records the request.
 * @returns the running request; undefined if the caller has left
 * @throws RouterError `permission_denied`, the error of `explainNoLane` if no worker can serve the request in time, or as `findLanes` and
 * `reserve` do
 */
export async function serveModel(
  { dispatcher, workers, registry, limits, priceOf, hedges, ownerKeys, noWorkerMs, record }: ServingComponents,
  request: PreparedRequest,
  { headers, session, sentFor, maxWaitMs, continues, isWhole }: RequestOptions,
  sink: ModelSink,
  caller: Caller,
): Promise<RunningRequest | undefined> {
  const { format: clientFormat, operation, answerId } = request;
  const { name: format, sealsAnswers } = clientFormat;
  const { parameters, withDefaults, divisible } = request.client;
  const { needs, stream } = parameters;
  const { requestId, identity, trace } = caller;
  const laneParts = { workers, registry, priceOf };
  const lanes = findLanes(laneParts, { parameters, operation, format }, identity, sentFor, request.model);
  const { name } = lanes;
  const { model } = lanes.choice;
  const waits = { noWorkerMs, maxWaitMs };
  const refusal = lanes.isEmpty ? lanes.explainNone(waits) : undefined;
  if (refusal && !refusal.waits) throw refusal.error;
  const body = withDefaults(model.kind === 'named' ? model.defaults : {});
  const isCount = operation === 'count_tokens';
  const maxOutput = findOutputLimit(parameters, model);
  const amount = () =>
    isCount
      ? zeroAmount
      : estimateAmount({ needs, maxOutput, units: parameters.units }, lanes.findPlacements(), priceOf);
  // A key without limits needs no call to Redis.
  const reservation = identity.limits.length === 0 ? undefined : await reserve(limits, caller, amount);
  const sender = getQueueSender(identity);
  // A count of tokens is not a turn of a conversation.
  const turn = isCount ? undefined : sentFor.turn;
  const job = {
    requestId,
    operation,
    format,
    stream,
    trace,
    headers,
    findPlacements: (avoid: ReadonlySet<string>) => lanes.findPlacements(avoid),
    maxWaitMs,
    class: chooseClass(parameters, identity.class),
    sender,
    turn: turn && createRunningTurn(turn, identity),
    // JSON that must match a grammar cannot be continued in its middle.
    continues: stream && !needs.json && continues !== false,
    answerId,
    unread: findUnreadLists(parameters, model),
    ownerKey: sealsAnswers === true ? ownerKeys.deriveGrantKeys(storeOwnerOf(identity)) : undefined,
    // A count of tokens uses no prompt cache.
    affinity: isCount
      ? undefined
      : parameters.conversation && computeAffinity(identity, session, parameters.conversation),
    whyUnplaced: () => lanes.explainNone(waits)?.error,
    tiers: () => lanes.findTiers(),
  };
  const bounds = { needs, maxOutput, units: parameters.units, bodyBytes: body.length };
  const onEnd = (reported: JobReport, reserved: Reservation | undefined): void => {
    const usage = computeUsage(reported, bounds, sink.relayedTokens);
    const report = reported.end ? { ...reported, end: { ...reported.end, usage } } : reported;
    const { purpose } = sentFor;
    record({ origin: caller, format, operation, asked: name, purpose, turn, report, usage, reservation: reserved });
  };
  const split = createSplitDispatcher(
    dispatcher,
    isWhole === true ? undefined : divisible,
    model.kind === 'named' ? model.defaults : {},
  );
  if (split) return runJob(split, job, body, sink, caller, reservation, onEnd);
  if (!stream || operation !== 'generate' || model.kind === 'auto' || !model.hedge.includes(job.class))
    return runJob(dispatcher, job, body, sink, caller, reservation, onEnd);
  const hedging: JobDispatcher<HedgedJob> = {
    dispatch: (...args) => new HedgedJob({ dispatcher, hedges, name }, ...args),
    cancel: (hedged) => hedged.cancel(),
    fail: (hedged, error) => hedged.fail(error),
  };
  return runJob(hedging, job, body, sink, caller, reservation, onEnd);
}

/** Returns the lists that the worker need not parse: none if the registry adds fields, because these may concern the lists. */
function findUnreadLists({ unread: lists, needs }: RequestParameters, model: ResolvedModel): JobRequest['unread'] {
  if (!lists || (model.kind === 'named' && Object.keys(model.defaults).length > 0)) return undefined;
  return { lists, inputTokens: needs.inputTokens };
}

/** Returns the client's limit of output tokens, or the registry's default for clients that set none. */
function findOutputLimit({ maxOutput }: RequestParameters, model: ResolvedModel): number | undefined {
  if (maxOutput !== undefined || model.kind === 'auto') return maxOutput;
  const defaultLimit = model.defaults['max_completion_tokens'] ?? model.defaults['max_tokens'];
  return typeof defaultLimit === 'number' ? defaultLimit : undefined;
}

/** Returns the class of the key, or `low` if the client asks for `flex`. A client may lower the priority of a request, but not raise it. */
function chooseClass({ serviceTier }: RequestParameters, ceiling: PriorityClass): PriorityClass {
  return serviceTier === 'flex' ? 'low' : ceiling;
}

/** Adds the key, and the person or team that owns the key, to a turn. */
function createRunningTurn(
  turn: AgentTurn,
  { id, kind, ownerId = '' }: Pick<KeyIdentity, 'id' | 'kind' | 'ownerId'>,
): RunningAgentTurn {
  return { ...turn, key: id, user: kind === 'user' ? ownerId : '', team: kind === 'team' ? ownerId : '' };
}
