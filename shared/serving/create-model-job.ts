import { findStoreOwner, type KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import type { JobRequest, RunningAgentTurn } from '#shared/broker/dispatch/job-request.ts';
import type { AgentTurn } from '#shared/core/agent-turn.ts';
import type { PriorityClass } from '#shared/core/priority-class.ts';
import type { RequestParameters } from '#shared/formats/client-format.ts';
import { type Caller, getQueueSender } from './caller.ts';
import { computeAffinity } from './compute-affinity.ts';
import type { ModelLanes } from './find-lanes.ts';
import type { PreparedRequest } from './prepare-request.ts';
import type { RequestOptions } from './request-options.ts';
import type { ResolvedModel } from './resolve-model.ts';

export interface ModelJobParts {
  ownerKeys: Pick<OwnerKeys, 'deriveGrantKeys'>;
  /** Milliseconds that a request waits while no worker can serve it. */
  noWorkerMs: number;
}

/** Creates the job of a request to a model. The job keeps no part of the request's body in memory. */
export function createModelJob(
  { ownerKeys, noWorkerMs }: ModelJobParts,
  { format, operation, answerId, client: { parameters } }: PreparedRequest,
  { headers, session, sentFor, maxWaitMs, continues }: RequestOptions,
  { requestId, identity, trace }: Caller,
  lanes: ModelLanes,
): JobRequest {
  const { stream, needs, conversation } = parameters;
  // A token count is not a turn of a conversation, and uses no prompt cache.
  const isCount = operation === 'count_tokens';
  return {
    requestId,
    operation,
    format: format.name,
    stream,
    class: chooseClass(parameters, identity.class),
    sender: getQueueSender(identity),
    turn: isCount ? undefined : sentFor.turn && createRunningTurn(sentFor.turn, identity),
    trace,
    headers,
    answerId,
    ownerKey: format.sealsAnswers === true ? ownerKeys.deriveGrantKeys(findStoreOwner(identity)) : undefined,
    unread: findUnreadLists(parameters, lanes.choice.model),
    // JSON that must match a grammar cannot be continued in its middle.
    mayContinue: stream && !needs.json && continues !== false,
    affinity: isCount || !conversation ? undefined : computeAffinity(identity, session, conversation),
    maxWaitMs,
    findPlacements: (avoid) => lanes.findPlacements(avoid),
    explainUnplaced: () => lanes.explainNone({ noWorkerMs, maxWaitMs })?.error,
    tiers: () => lanes.findTiers(),
  };
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

/** Returns the lists that the worker need not parse. Returns none if the registry adds fields, because these may affect the lists. */
function findUnreadLists({ unread: lists, needs }: RequestParameters, model: ResolvedModel): JobRequest['unread'] {
  if (!lists || (model.kind === 'named' && Object.keys(model.defaults).length > 0)) return undefined;
  return { lists, inputTokens: needs.inputTokens };
}
