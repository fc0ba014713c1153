import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import { noUsage, type Usage } from '#shared/core/usage.ts';
import { capUsage, type UsageBounds } from './cap-usage.ts';

/**
 * Computes the usage of a job.
 * - Complete answer: the counts of the engine, capped at plausible values
 * - Stream that broke, or that the client left: the estimated input and the relayed output
 * - Answer that the client left before the first byte: the estimated input
 * - Job that failed before the first byte, or that no worker began: nothing
 */
export function computeUsage(
  report: Pick<JobReport, 'end' | 'state' | 'attempt' | 'answerBytes' | 'firstByteAt'>,
  bounds: UsageBounds,
  relayedTokens: number,
): Usage {
  const { end, state, attempt, firstByteAt } = report;
  if (end) return capUsage(end.usage, report, bounds);
  const hasBegun = attempt !== undefined && (firstByteAt !== undefined || state === 'cancelled');
  if (!hasBegun) return noUsage;
  const usage: Usage = { ...noUsage, promptTokens: bounds.needs.inputTokens, completionTokens: relayedTokens };
  if (!bounds.units) return usage;
  // Images are output, and the client has received none.
  const { images: _, ...units } = bounds.units;
  return { ...usage, units };
}
