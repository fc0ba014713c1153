import type { LimitStanding } from '#shared/formats/client-format.ts';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { TraceSpan } from '#shared/core/tracing/tracing.ts';

/** Who sends a request, and how it is known in logs, traces and usage records. */
export interface RequestOrigin {
  /** The client's `x-request-id`, or one of ours. */
  requestId: string;
  identity: KeyIdentity;
  /** The request's span, when requests are traced. */
  trace: TraceSpan | undefined;
}

/** The one who waits for an answer, apart from where its bytes go. */
export interface Caller extends RequestOrigin {
  /** Called before the answer, and before a refusal, with how much of the tightest limits is left. */
  onStanding(standing: LimitStanding): void;
  /** Whether nothing waits for the answer any more. */
  isGone(): boolean;
}
