import { LRUCache } from 'lru-cache';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { Tier } from '#shared/core/tier.ts';

/** Models, each on each tier, that are remembered at most, and the last answers of each. */
const mostModels = 1_000;
const mostAnswers = 50;

/** Milliseconds for which an answer counts. */
const countsMs = 3_600_000;

/** Milliseconds below which an answer has not streamed: it came at once, and says nothing of a speed. */
const leastStreamMs = 50;

/** One answer. Times are milliseconds, `at` of `performance.now()`. */
interface Measured {
  at: number;
  firstTokenMs: number;
  tokensPerSecond: number;
}

/** How fast a model has answered lately: medians of its last streamed answers. */
export interface ModelSpeed {
  /** Time to the first token, from when the request came, in milliseconds. */
  firstTokenMs: number;
  /** Output tokens per second, from the first one on. */
  tokensPerSecond: number;
  /** Answers that were measured. */
  answers: number;
}

/** How fast each model answers, as this ingress has measured it within the last hour. */
export class ModelTimes {
  readonly #answers = new LRUCache<string, Measured[]>({ max: mostModels });

  /** Counts the answer of a job that is over, if it streamed. */
  add({ attempt, queuedAt, firstByteAt, endedAt, end }: JobReport): void {
    const tokens = end?.usage.completionTokens ?? 0;
    if (!attempt || firstByteAt === undefined || tokens === 0) return;
    const streamedMs = endedAt - firstByteAt;
    if (streamedMs < leastStreamMs) return;
    const key = keyOf(attempt.worker.announcement.tier, attempt.placement.model);
    const answers = this.#answers.get(key) ?? [];
    answers.push({
      at: endedAt,
      firstTokenMs: firstByteAt - queuedAt,
      tokensPerSecond: (tokens * 1_000) / streamedMs,
    });
    if (answers.length > mostAnswers) answers.shift();
    this.#answers.set(key, answers);
  }

  /** Undefined for a model that has streamed no answer here lately. */
  of(tier: Tier, model: string, now = performance.now()): ModelSpeed | undefined {
    const answers = (this.#answers.peek(keyOf(tier, model)) ?? []).filter(({ at }) => now - at <= countsMs);
    if (answers.length === 0) return undefined;
    return {
      firstTokenMs: Math.round(median(answers.map(({ firstTokenMs }) => firstTokenMs))),
      tokensPerSecond: Math.round(median(answers.map(({ tokensPerSecond }) => tokensPerSecond)) * 10) / 10,
      answers: answers.length,
    };
  }
}

function keyOf(tier: Tier, model: string): string {
  return `${tier} ${model}`;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}
