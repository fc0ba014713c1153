import type { UsageRequest } from '../../../contract/usage.ts';

/** A stage of a request's course, in milliseconds since the request began. */
export interface Stage {
  /** `offered` ends when the worker has shown that it took the offer. */
  name: 'waiting' | 'offered' | 'working' | 'answering';
  from: number;
  to: number;
}

export interface Row {
  label: string;
  stages: Stage[];
  /** See `UsageAttempt`; absent if no attempt is known. */
  end?: string;
}

/**
 * Returns a row for each attempt of a request, and one for its last wait. A record without attempts gives one row with the known times.
 */
export function toTimeline({ timeline, worker, queueMs, firstTokenMs, totalMs, code }: UsageRequest): Row[] {
  const latest = timeline?.at(-1);
  if (!timeline || !latest) {
    const label = worker ?? 'No worker';
    return [
      { label, stages: stages({ waitMs: 0, givenMs: queueMs ?? totalMs, firstMs: firstTokenMs, endMs: totalMs }) },
    ];
  }
  const rows = timeline.map((attempt, index): Row => ({
    label: `${index + 1}. ${attempt.worker}, ${attempt.offered ? 'by an offer' : 'by a claim'},`,
    stages: stages(attempt),
    end: attempt.end,
  }));
  const { end, endMs: last } = latest;
  // Writing the record takes a moment after the end of the request. This moment does not count as waiting.
  const endedIt = end === 'done' || end === 'cancelled' || end === code;
  if (endedIt || totalMs - last < 1) return rows;
  return [...rows, { label: 'No other worker', stages: [{ name: 'waiting', from: last, to: totalMs }] }];
}

interface Times {
  offered?: boolean;
  waitMs: number;
  givenMs: number;
  begunMs?: number | undefined;
  firstMs?: number | undefined;
  endMs: number;
}

function stages({ offered = false, waitMs, givenMs, begunMs, firstMs, endMs }: Times): Stage[] {
  const takenMs = offered ? (begunMs ?? endMs) : givenMs;
  const first = firstMs ?? endMs;
  const all: Stage[] = [
    { name: 'waiting', from: waitMs, to: givenMs },
    { name: 'offered', from: givenMs, to: Math.min(takenMs, first) },
    { name: 'working', from: Math.min(takenMs, first), to: first },
    { name: 'answering', from: first, to: endMs },
  ];
  return all.filter(({ name, from, to }) => to > from || name === 'waiting');
}

/** Returns the output tokens per second while the answer streamed; undefined for an answer that came as a whole. */
export function tokensPerSecond({ completionTokens, firstTokenMs, totalMs }: UsageRequest): number | undefined {
  const ms = firstTokenMs === undefined ? 0 : totalMs - firstTokenMs;
  // An answer that came as a whole has no streaming time.
  return ms < 10 || completionTokens === 0 ? undefined : Math.round((completionTokens / ms) * 10_000) / 10;
}
