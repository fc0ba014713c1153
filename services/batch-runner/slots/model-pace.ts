import type { RouterError } from '#shared/core/errors.ts';
import { upstreamLimitOf, type UpstreamLimit } from './upstream-limit.ts';

/** Milliseconds without a refusal after which a model is as any other. */
const forgottenMs = 3_600_000;

interface Pace {
  /** Requests of lines that run. */
  running: number;
  /** Requests that may run at once. */
  most: number;
  /** Answers since `most` has changed. */
  answers: number;
  /** Refusals in a row, less one for each time that all requests at once were answered. */
  refusals: number;
  limit: UpstreamLimit;
}

const none: UpstreamLimit = { until: 0, reason: '' };

/**
 * How many requests of batches go to a model whose upstream refuses some, so that live requests have its rate: after a refusal none for a
 * while, longer each time; then half as many at once as before, and one more each time that all of these were answered.
 */
export class ModelPace {
  /** Models that lines use now, or that refused requests lately. */
  readonly #paces = new Map<string, Pace>();

  /** The limit that lines of a model wait for; undefined if they may begin, or wait for others of them only. */
  limitOf(model: string, now = Date.now()): UpstreamLimit | undefined {
    const limit = this.#paces.get(model)?.limit ?? none;
    return limit.until > now ? limit : undefined;
  }

  /** Whether one more request may be sent to a model. */
  mayBegin(model: string, now = Date.now()): boolean {
    const pace = this.#paces.get(model);
    return !pace || (pace.limit.until <= now && pace.running < pace.most);
  }

  /** A request begins. @returns the call for its end, after what became of it */
  begin(model: string): () => void {
    const pace = this.#paces.get(model) ?? { running: 0, most: Infinity, answers: 0, refusals: 0, limit: none };
    this.#paces.set(model, pace);
    pace.running += 1;
    return () => {
      pace.running -= 1;
      if (pace.running === 0 && pace.limit.until + forgottenMs < Date.now()) this.#paces.delete(model);
    };
  }

  /** The upstream has refused a request. */
  refused(model: string, error: RouterError, now = Date.now()): void {
    const pace = this.#paces.get(model);
    if (!pace) return;
    // Requests that ran at the same time are refused together, which counts once.
    if (pace.limit.until <= now) {
      pace.refusals += 1;
      pace.most = Math.max(1, Math.floor(Math.min(pace.most, pace.running) / 2));
      pace.answers = 0;
    }
    const limit = upstreamLimitOf(model, error, pace.refusals, now);
    if (limit.until > pace.limit.until) pace.limit = limit;
  }

  /** A request was answered. */
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
