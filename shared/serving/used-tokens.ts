import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import { noUsage, type Usage } from '#shared/core/usage.ts';
import { capUsage, type UsageBounds } from './possible-usage.ts';

/**
 * Computes the usage of a job. A complete answer has the engine's count, capped to what is possible. A stream that broke, or that the
 * client left, counts the estimated input and the relayed output. An answer that the client left before its first byte counts the input. A
 * job that failed earlier, or that no worker began, counts nothing.
 */
export function computeUsage(
  report: Pick<JobReport, 'end' | 'state' | 'attempt' | 'answerBytes' | 'firstByteAt'>,
  bounds: UsageBounds,
  relayedTokens: number,
): Usage {
  const { end, state, attempt, firstByteAt } = report;
  if (end) return capUsage(end.usage, report, bounds);
  const wasBegun = attempt !== undefined && (firstByteAt !== undefined || state === 'cancelled');
  if (!wasBegun) return noUsage;
  // Images are output, which nobody has received.
  const { images: _, ...units } = bounds.units ?? {};
  const promptTokens = bounds.needs.inputTokens;
  return { ...noUsage, promptTokens, completionTokens: relayedTokens, ...(bounds.units && { units }) };
}
