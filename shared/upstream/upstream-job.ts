import type { TraceSpan } from '#shared/core/tracing/tracing.ts';

/** The fields of a job that the request to the upstream and the answer depend on. See `GrantedJob` of the broker contract. */
export interface UpstreamJob {
  model: string;
  stream: boolean;
  headers?: Readonly<Record<string, string>> | undefined;
  /** The answer's id; undefined if the worker chooses it. */
  answerId?: string | undefined;
  ownerKey?: string | undefined;
  unread?: { inputTokens: number } | undefined;
  trace?: TraceSpan | undefined;
}
