import type { LimitStatus } from '#shared/formats/client-format.ts';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';
import type { JobRequest } from '#shared/broker/dispatch/job-request.ts';

export interface RequestOrigin {
  /** The client's `x-request-id`, or a generated one. */
  requestId: string;
  identity: KeyIdentity;
  /** The request's span; undefined if tracing is off. */
  trace: TraceSpan | undefined;
  /** Whether the request and its answer are recorded for the key's owner. */
  isRecorded?: boolean | undefined;
}

export interface Caller extends RequestOrigin {
  /** Called before the answer or a refusal, with the status of the tightest limits. Absent if nobody receives the status. */
  onLimitStatus?(status: LimitStatus): void;
  /** Called before the router calls a tool that may change something. A repetition of the request would then call the tool again. */
  onEffects?(): void;
  /** Whether the client has left. */
  isGone(): boolean;
}

/** Returns the origin of a caller's request, for further jobs of the same request. */
export function pickOrigin({ requestId, identity, trace, isRecorded }: RequestOrigin): RequestOrigin {
  return { requestId, identity, trace, isRecorded };
}

/**
 * Returns the owner and the key for which the fair queue counts a request. A key without an owner counts as its own owner. Stored content
 * of the key may have another owner, see `findStoreOwner`.
 */
export function getQueueSender({
  id,
  ownerId,
  weight,
  ownerWeight,
}: Pick<KeyIdentity, 'id' | 'ownerId' | 'weight' | 'ownerWeight'>): JobRequest['sender'] {
  if (ownerId === undefined) return { owner: id, key: id, ownerWeight: weight };
  return { owner: ownerId, key: id, ownerWeight, keyWeight: weight };
}
