import type { UsageRequest } from '../../../contract/usage.ts';

/** A part of a request's course, in milliseconds since it began. */
export interface Stage {
  /** `offered`: until the worker showed that it had taken the offer. */
  name: 'waiting' | 'offered' | 'working' | 'answering';
  from: number;
  to: number;
}

/** One line of a request's course. */
export interface Row {
  label: string;
  stages: Stage[];
  /** See `UsageAttempt`; absent where no attempt is known. */
  end?: string;
}

/** The lines of a request's course: its attempts, and its last wait. Of a record without attempts, one line with what is known. */
export function stagesOf({ timeline, worker, queueMs, firstTokenMs, totalMs, code }: UsageRequest): Row[] {
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
  // What ended the request takes a moment until its record is written: that is no wait.
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
  const taken = offered ? (begunMs ?? endMs) : givenMs;
  const first = firstMs ?? endMs;
  const all: Stage[] = [
    { name: 'waiting', from: waitMs, to: givenMs },
    { name: 'offered', from: givenMs, to: Math.min(taken, first) },
    { name: 'working', from: Math.min(taken, first), to: first },
    { name: 'answering', from: first, to: endMs },
  ];
  return all.filter(({ name, from, to }) => to > from || name === 'waiting');
}

/** Tokens of output a second while the answer came; undefined where it came at once. */
export function tokensPerSecond({ completionTokens, firstTokenMs, totalMs }: UsageRequest): number | undefined {
  const ms = firstTokenMs === undefined ? 0 : totalMs - firstTokenMs;
  // An answer as a whole has come in no time.
  return ms < 10 || completionTokens === 0 ? undefined : Math.round((completionTokens / ms) * 10_000) / 10;
}
