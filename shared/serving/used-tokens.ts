import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import { mapUnits, noUsage, unitsOf, type Units, type Usage } from '#shared/core/usage.ts';

/** Most tokens of one answer. A worker that reports more must not distort sums. */
const mostTokens = 1e9;

/**
 * The usage of a job. A complete answer has the count of the engine. A stream that broke, or that the client left, counts
 * the estimated input and the relayed output; an answer that the client left before its first byte counts the input. A job
 * that failed earlier, or that no worker began, counts nothing.
 */
export function usedTokens(
  { end, state, attempt, firstByteAt }: Pick<JobReport, 'end' | 'state' | 'attempt' | 'firstByteAt'>,
  inputTokens: number,
  relayedTokens: number,
  asked?: Units,
): Usage {
  if (end) return bounded(end.usage);
  const wasBegun = attempt !== undefined && (firstByteAt !== undefined || state === 'cancelled');
  if (!wasBegun) return noUsage;
  // A picture is no input, and nobody has got it.
  const { images: _, ...units } = asked ?? {};
  return { ...noUsage, promptTokens: inputTokens, completionTokens: relayedTokens, ...(asked && { units }) };
}

function bounded(usage: Usage): Usage {
  return {
    promptTokens: Math.min(mostTokens, usage.promptTokens),
    cachedTokens: Math.min(mostTokens, usage.cachedTokens),
    cacheWriteTokens: Math.min(mostTokens, usage.cacheWriteTokens),
    ...(usage.hourCacheWriteTokens !== undefined && {
      hourCacheWriteTokens: Math.min(mostTokens, usage.cacheWriteTokens, usage.hourCacheWriteTokens),
    }),
    completionTokens: Math.min(mostTokens, usage.completionTokens),
    reasoningTokens: Math.min(mostTokens, usage.reasoningTokens),
    ...(usage.units && { units: mapUnits((unit) => Math.min(mostTokens, unitsOf(usage, unit))) }),
  };
}
