import type { RouterError } from '#shared/core/errors.ts';
import { computeUpstreamLimit, type UpstreamLimit } from './upstream-limit.ts';

/** Milliseconds after the end of a model's last limit until its state may be dropped. */
const idleMs = 3_600_000;

interface ModelBreaker {
  running: number;
  /** Largest number of requests that may run at once. */
  maxRunning: number;
  /** Number of answers since `maxRunning` last changed. */
  answers: number;
  /**
   * Number of refusals, on which the length of the next limit depends. One is subtracted each time that `maxRunning` requests were
   * answered.
   */
  refusals: number;
  limit: UpstreamLimit;
}

const noLimit: UpstreamLimit = { until: 0, reason: '' };

/**
 * Circuit breaker for batch requests to models with an upstream that refuses some requests. The breaker leaves the rate of the upstream to
 * live requests. After a refusal, no request may begin for a while. The time grows with each further refusal. Then half as many requests as
 * before may run at once. Each time that as many requests were answered as may run at once, one more may run.
 */
export class ModelBreakers {
  /** Models in use by lines, and models whose upstream refused requests recently. */
  readonly #breakers = new Map<string, ModelBreaker>();

  /** Returns the limit that lines of a model wait for; undefined if they may begin, or wait only for other lines. */
  findLimit(model: string, now = Date.now()): UpstreamLimit | undefined {
    const limit = this.#breakers.get(model)?.limit ?? noLimit;
    return limit.until > now ? limit : undefined;
  }

  mayBegin(model: string, now = Date.now()): boolean {
    const breaker = this.#breakers.get(model);
    return !breaker || (breaker.limit.until <= now && breaker.running < breaker.maxRunning);
  }

  /**
   * Counts a request that begins.
   * @returns the function to call when the request ends, after `noteRefusal` or `noteAnswer`
   */
  begin(model: string): () => void {
    const breaker = this.#breakers.get(model) ?? {
      running: 0,
      maxRunning: Infinity,
      answers: 0,
      refusals: 0,
      limit: noLimit,
    };
    this.#breakers.set(model, breaker);
    breaker.running += 1;
    return () => {
      breaker.running -= 1;
      if (breaker.running === 0 && breaker.limit.until + idleMs < Date.now()) this.#breakers.delete(model);
    };
  }

  /** Records a refusal by the upstream. */
  noteRefusal(model: string, error: RouterError, now = Date.now()): void {
    const breaker = this.#breakers.get(model);
    if (!breaker) return;
    // Requests that ran at the same time are refused together, which counts as one refusal.
    if (breaker.limit.until <= now) {
      breaker.refusals += 1;
      breaker.maxRunning = Math.max(1, Math.floor(Math.min(breaker.maxRunning, breaker.running) / 2));
      breaker.answers = 0;
    }
    const limit = computeUpstreamLimit(model, error, breaker.refusals, now);
    if (limit.until > breaker.limit.until) breaker.limit = limit;
  }

  /** Records an answer. */
  noteAnswer(model: string): void {
    const breaker = this.#breakers.get(model);
    if (!breaker) return;
    breaker.answers += 1;
    if (breaker.answers < breaker.maxRunning) return;
    breaker.answers = 0;
    breaker.maxRunning += 1;
    breaker.refusals = Math.max(0, breaker.refusals - 1);
  }
}
