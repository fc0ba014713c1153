import type { UsageRequest } from '../../../contract/usage.ts';

/** A stage of a request. Times are milliseconds since the request began. */
export interface Stage {
  /** `offered` ends when the worker has shown that it took the offer. */
  name: 'waiting' | 'offered' | 'working' | 'answering';
  from: number;
  to: number;
}

export interface TimelineRow {
  label: string;
  stages: Stage[];
  /** See `UsageAttempt`; absent if no attempt is known. */
  end?: string;
}

/**
 * Returns a row for each attempt of a request, and a row for a wait after the last attempt. For a record without attempts, returns one row
 * with the known times.
 */
export function toTimeline({ timeline, worker, queueMs, firstTokenMs, totalMs, code }: UsageRequest): TimelineRow[] {
  const lastAttempt = timeline?.at(-1);
  if (!timeline || !lastAttempt) {
    const label = worker ?? 'No worker';
    return [
      { label, stages: toStages({ waitMs: 0, givenMs: queueMs ?? totalMs, firstMs: firstTokenMs, endMs: totalMs }) },
    ];
  }
  const rows = timeline.map((attempt, index): TimelineRow => ({
    label: `${index + 1}. ${attempt.worker}, ${attempt.offered ? 'by an offer' : 'by a claim'},`,
    stages: toStages(attempt),
    end: attempt.end,
  }));
  const { end, endMs: lastEndMs } = lastAttempt;
  // Writing the record takes a moment after the end of the request. This moment does not count as waiting.
  const hasEndedRequest = end === 'done' || end === 'cancelled' || end === code;
  if (hasEndedRequest || totalMs - lastEndMs < 1) return rows;
  return [...rows, { label: 'No other worker', stages: [{ name: 'waiting', from: lastEndMs, to: totalMs }] }];
}

/** Times in ms since the request began, named as in `UsageAttempt`. */
interface AttemptTimes {
  offered?: boolean;
  waitMs: number;
  givenMs: number;
  begunMs?: number | undefined;
  firstMs?: number | undefined;
  endMs: number;
}

function toStages({ offered = false, waitMs, givenMs, begunMs, firstMs, endMs }: AttemptTimes): Stage[] {
  const takenMs = offered ? (begunMs ?? endMs) : givenMs;
  const answerStartMs = firstMs ?? endMs;
  const stages: Stage[] = [
    { name: 'waiting', from: waitMs, to: givenMs },
    { name: 'offered', from: givenMs, to: Math.min(takenMs, answerStartMs) },
    { name: 'working', from: Math.min(takenMs, answerStartMs), to: answerStartMs },
    { name: 'answering', from: answerStartMs, to: endMs },
  ];
  return stages.filter(({ name, from, to }) => to > from || name === 'waiting');
}

/** Returns the output tokens per second while the answer streamed; undefined if the answer was not streamed. */
export function computeTokensPerSecond({ completionTokens, firstTokenMs, totalMs }: UsageRequest): number | undefined {
  const ms = firstTokenMs === undefined ? 0 : totalMs - firstTokenMs;
  // If less than 10 ms passed after the first token, the answer was not streamed.
  return ms < 10 || completionTokens === 0 ? undefined : Math.round((completionTokens / ms) * 10_000) / 10;
}
