import type { RouterError } from '#shared/core/errors.ts';
import { upstreamLimitOf, type UpstreamLimit } from './upstream-limit.ts';

/** Milliseconds without a refusal after which a model's state is dropped. */
const forgottenMs = 3_600_000;

interface Pace {
  running: number;
  /** Requests that may run at once. */
  most: number;
  /** Answers since `most` last changed. */
  answers: number;
  /** Refusals in a row, less one each time that as many requests were answered as may run at once. */
  refusals: number;
  limit: UpstreamLimit;
}

const none: UpstreamLimit = { until: 0, reason: '' };

/**
 * Circuit breaker for batch requests to models whose upstream refuses some: it leaves the upstream's rate to live requests. After a refusal
 * it sends no request for a while, longer each time. Then it allows half as many concurrent requests as before, and one more each time that
 * as many were answered.
 */
export class ModelPace {
  /** Models in use by lines, and models that refused requests lately. */
  readonly #paces = new Map<string, Pace>();

  /** Returns the limit that lines of a model wait for; undefined if they may begin, or wait only for other lines. */
  limitOf(model: string, now = Date.now()): UpstreamLimit | undefined {
    const limit = this.#paces.get(model)?.limit ?? none;
    return limit.until > now ? limit : undefined;
  }

  mayBegin(model: string, now = Date.now()): boolean {
    const pace = this.#paces.get(model);
    return !pace || (pace.limit.until <= now && pace.running < pace.most);
  }

  /** Counts a request that begins. @returns the call for its end, made after `refused` or `answered` */
  begin(model: string): () => void {
    const pace = this.#paces.get(model) ?? { running: 0, most: Infinity, answers: 0, refusals: 0, limit: none };
    this.#paces.set(model, pace);
    pace.running += 1;
    return () => {
      pace.running -= 1;
      if (pace.running === 0 && pace.limit.until + forgottenMs < Date.now()) this.#paces.delete(model);
    };
  }

  /** Records a refusal by the upstream. */
  refused(model: string, error: RouterError, now = Date.now()): void {
    const pace = this.#paces.get(model);
    if (!pace) return;
    // Requests that ran at the same time are refused together, which counts as one refusal.
    if (pace.limit.until <= now) {
      pace.refusals += 1;
      pace.most = Math.max(1, Math.floor(Math.min(pace.most, pace.running) / 2));
      pace.answers = 0;
    }
    const limit = upstreamLimitOf(model, error, pace.refusals, now);
    if (limit.until > pace.limit.until) pace.limit = limit;
  }

  /** Records an answer. */
  answered(model: string): void {
    const pace = this.#paces.get(model);
    if (!pace) return;
    pace.answers += 1;
    if (pace.answers < pace.most) return;
    pace.answers = 0;
    pace.most += 1;
    pace.refusals = Math.max(0, pace.refusals - 1);
  }
}
