import { LRUCache } from 'lru-cache';
import type { JobReport } from '#shared/broker/dispatch/job-report.ts';
import type { Tier } from '#shared/core/tier.ts';

/** The maximum number of measured models. A model on two tiers counts twice. */
const maxModels = 1_000;

/** The maximum number of recent answers that measure the speed of a model. */
const maxAnswers = 50;

/** Milliseconds for which an answer counts. */
const answerTtlMs = 3_600_000;

/** The minimum duration of a streamed answer in milliseconds. A shorter answer came at once, and shows no speed. */
const minStreamMs = 50;

/** The measurements of one answer. `at` is a time of `performance.now()`. */
interface Measurement {
  at: number;
  firstTokenMs: number;
  tokensPerSecond: number;
}

/** The recent speed of a model, as medians over its last streamed answers. */
export interface ModelSpeed {
  /** Milliseconds from the arrival of the request to the first token. */
  firstTokenMs: number;
  /** Output tokens per second, from the first token on. */
  tokensPerSecond: number;
  /** The number of answers that were measured. */
  answers: number;
}

/** The speed of each model, as this ingress has measured it within the last hour. */
export class ModelSpeeds {
  readonly #answers = new LRUCache<string, Measurement[]>({ max: maxModels });

  /** Counts the answer of a finished job, if it streamed. */
  add({ attempt, queuedAt, firstByteAt, endedAt, end }: JobReport): void {
    const tokens = end?.usage.completionTokens ?? 0;
    if (!attempt || firstByteAt === undefined || tokens === 0) return;
    const streamedMs = endedAt - firstByteAt;
    if (streamedMs < minStreamMs) return;
    const key = toKey(attempt.worker.announcement.tier, attempt.placement.model);
    const answers = this.#answers.get(key) ?? [];
    answers.push({
      at: endedAt,
      firstTokenMs: firstByteAt - queuedAt,
      tokensPerSecond: (tokens * 1_000) / streamedMs,
    });
    if (answers.length > maxAnswers) answers.shift();
    this.#answers.set(key, answers);
  }

  /** Returns the speed of a model on a tier; undefined if the model has streamed no answer here within the last hour. */
  find(tier: Tier, model: string, now = performance.now()): ModelSpeed | undefined {
    const answers = (this.#answers.peek(toKey(tier, model)) ?? []).filter(({ at }) => now - at <= answerTtlMs);
    if (answers.length === 0) return undefined;
    return {
      firstTokenMs: Math.round(computeMedian(answers.map(({ firstTokenMs }) => firstTokenMs))),
      tokensPerSecond: Math.round(computeMedian(answers.map(({ tokensPerSecond }) => tokensPerSecond)) * 10) / 10,
      answers: answers.length,
    };
  }
}

function toKey(tier: Tier, model: string): string {
  return `${tier} ${model}`;
}

function computeMedian(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}
