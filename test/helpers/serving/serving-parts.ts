import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { LivePool } from '#shared/broker/dispatch/workers/live-worker.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { noPurpose } from '#shared/core/purpose.ts';
import { registrySchema } from '#shared/registry/registry.ts';
import type { Caller } from '#shared/serving/caller.ts';
import { Hedges } from '#shared/serving/hedging/hedges.ts';
import type { RequestOptions } from '#shared/serving/request-options.ts';
import type { ModelSink, ServingComponents } from '#shared/serving/serve-model.ts';

const nothing = (): undefined => undefined;

/** Returns a client that reads its answer and shows nothing of it. */
export function modelSink(changes: Partial<ModelSink> = {}): ModelSink {
  return {
    relayedTokens: 0,
    begin: nothing,
    data: nothing,
    keepAlive: nothing,
    end: nothing,
    fail: nothing,
    ...changes,
  };
}

/** Returns the dependencies for serving a request, up to the dispatcher. Nothing is limited or recorded. */
export function servingParts(
  dispatch: ServingComponents['dispatcher']['dispatch'],
  pools: readonly LivePool[],
  changes: Partial<ServingComponents> = {},
): ServingComponents {
  const isKnown = (): boolean => true;
  return {
    dispatcher: { dispatch, cancel: nothing, fail: nothing },
    workers: {
      pools: () => pools,
      findLostPools: () => [],
      isKnownModel: isKnown,
      isKnownTool: isKnown,
    } as unknown as LiveWorkers,
    registry: () => registrySchema.parse({}),
    limits: { reserve: () => Promise.reject(new Error('no limits here')) },
    priceOf: nothing,
    hedges: new Hedges(),
    noWorkerMs: 15_000,
    ownerKeys: { deriveGrantKeys: nothing },
    record: nothing,
    ...changes,
  };
}

export function identityOf(fields: Partial<KeyIdentity> = {}): KeyIdentity {
  return { id: 'k', name: 'k', kind: 'router', class: 'normal', limits: [], ...fields } as unknown as KeyIdentity;
}

export function callerOf(identity: KeyIdentity = identityOf(), changes: Partial<Caller> = {}): Caller {
  return { requestId: 'r', identity, trace: undefined, onLimitStatus: nothing, isGone: () => false, ...changes };
}

/** The options of a request that consists of its body only. */
export const plainOptions: RequestOptions = { sentFor: noPurpose };
