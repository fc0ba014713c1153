import type { JobReport } from '#shared/broker/dispatch/job.ts';
import { noUsage, type Usage } from '#shared/core/usage.ts';

/** No answer has more tokens. A worker that tells more must not spoil sums. */
const mostTokens = 1e9;

/**
 * What a job came to. The engine tells when an answer ends well. Of a stream that broke or that the client left, the input
 * as estimated and the output that was relayed count; of an answer that the client left before it saw anything of it, the
 * input. What failed before that, or was never begun, came to nothing.
 */
export function usedTokens(
  { end, state, attempt, firstByteAt }: Pick<JobReport, 'end' | 'state' | 'attempt' | 'firstByteAt'>,
  inputTokens: number,
  relayedTokens: number,
): Usage {
  if (end) return bounded(end.usage);
  const wasBegun = attempt !== undefined && (firstByteAt !== undefined || state === 'cancelled');
  return wasBegun ? { ...noUsage, promptTokens: inputTokens, completionTokens: relayedTokens } : noUsage;
}

function bounded(usage: Usage): Usage {
  return {
    promptTokens: Math.min(mostTokens, usage.promptTokens),
    cachedTokens: Math.min(mostTokens, usage.cachedTokens),
    cacheWriteTokens: Math.min(mostTokens, usage.cacheWriteTokens),
    completionTokens: Math.min(mostTokens, usage.completionTokens),
    reasoningTokens: Math.min(mostTokens, usage.reasoningTokens),
  };
}
