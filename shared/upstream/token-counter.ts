import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { JsonObject } from '#shared/core/json.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { countWithTokenizer } from './count-with-tokenizer.ts';
import { UpstreamAnswerError } from './upstream-failure.ts';

const timeoutMs = 30_000;

/** Milliseconds after which a count is given up while the upstream generates an answer that must begin with it. */
const besideMs = 5_000;

/** Milliseconds after a failed count for which no count is requested from the upstream while it answers. */
const refusedMs = 60_000;

/** Maximum bytes of a request that is sent a second time to be counted. */
const maxBesideBytes = 1024 * 1024;

/** Size and lifetime (milliseconds) of the cache of counts. */
const cached = { max: 1_000, ttl: 10 * 60_000 };

/** Maximum number of answers per model that calibrate our counts, and maximum bytes of their requests. */
const calibrationLimits = { perModel: 20, maxBytes: 64 * 1024 };

export const countedFormat = chatUpstream;

interface Scale {
  /** True tokens per token of our own tokenizer. */
  ratio: number;
  lessons: number;
}

type Ask = (request: JsonObject, signal: AbortSignal) => Promise<number>;

/**
 * Counts the input tokens of chat requests without inference. The upstream counts them if it can; otherwise our own tokenizer does, scaled
 * by the counts that the model's first answers reported.
 */
export class TokenCounter {
  readonly #ask: Ask | undefined;
  readonly #counts = new LRUCache<string, number>(cached);
  readonly #scales = new Map<string, Scale>();
  #refusedUntil = 0;

  /** @param ask rejects with an UpstreamAnswerError if the upstream's version cannot count */
  constructor(ask: Ask | undefined) {
    this.#ask = ask;
  }

  /**
   * Counts the input tokens of a request; at least 1.
   * @param request as sent to the upstream
   */
  async count(request: JsonObject, model: string, signal: AbortSignal): Promise<number> {
    const key = hash('sha256', `${model}\n${JSON.stringify(request)}`);
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const upstreamCount = await this.#askUpstream(request, signal);
    const count = upstreamCount ?? Math.round((await countWithTokenizer(request, signal)) * this.#scaleOf(model).ratio);
    // An estimate is not cached if the upstream can count, so that the next call requests the count again.
    if (upstreamCount !== undefined || !this.#ask) this.#counts.set(key, Math.max(1, count));
    return Math.max(1, count);
  }

  /**
   * Counts the input tokens of a request at the upstream while the upstream answers it. Never rejects, because the answer goes on without a
   * count.
   * @param bytes length of the request in JSON
   * @returns undefined if the upstream cannot count, or the request is too long to be sent twice
   */
  countAtUpstream(request: JsonObject, bytes: number, signal: AbortSignal): Promise<number | undefined> | undefined {
    if (!this.#ask || bytes > maxBesideBytes || performance.now() < this.#refusedUntil) return undefined;
    return this.#ask(request, AbortSignal.any([signal, AbortSignal.timeout(besideMs)])).catch((error: unknown) => {
      if (error instanceof UpstreamAnswerError) this.#refusedUntil = performance.now() + refusedMs;
      return undefined;
    });
  }

  /** Counts like `countAtUpstream`, for a request that is not written yet. */
  countObjectAtUpstream(request: JsonObject, signal: AbortSignal): Promise<number | undefined> | undefined {
    return this.countAtUpstream(request, JSON.stringify(request).length, signal);
  }

  /**
   * Calibrates our counts with an answer, if the upstream cannot count. Measures the ratio of the model's tokenizer to ours.
   * @param bytes length of the request in JSON
   * @returns a function to call with the answer's own count; undefined if no calibration, or no further one, is needed, so that the request
   * need not be kept
   */
  createCalibration(request: JsonObject, model: string, bytes: number): ((promptTokens: number) => void) | undefined {
    if (this.#ask || bytes > calibrationLimits.maxBytes || this.#scaleOf(model).lessons >= calibrationLimits.perModel)
      return undefined;
    // The tokens of an image do not depend on the tokenizer.
    if (JSON.stringify(request.messages).includes('"image_url"')) return undefined;
    return (promptTokens) => {
      // The count is not awaited, and a failed count is ignored.
      this.#learn(request, model, promptTokens).catch(() => undefined);
    };
  }

  async #learn(request: JsonObject, model: string, promptTokens: number): Promise<void> {
    if (promptTokens < 1) return;
    const ratio = promptTokens / Math.max(1, await countWithTokenizer(request, AbortSignal.timeout(timeoutMs)));
    const scale = this.#scaleOf(model);
    const ratioSoFar = scale.lessons === 0 ? ratio : scale.ratio + (ratio - scale.ratio) / (scale.lessons + 1);
    this.#scales.set(model, { ratio: ratioSoFar, lessons: scale.lessons + 1 });
    this.#counts.clear();
  }

  #scaleOf(model: string): Scale {
    return this.#scales.get(model) ?? { ratio: 1, lessons: 0 };
  }

  /** Asks the upstream for a count; undefined if it cannot count. */
  #askUpstream(request: JsonObject, signal: AbortSignal): Promise<number | undefined> | undefined {
    return this.#ask?.(request, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])).catch((error: unknown) => {
      if (error instanceof UpstreamAnswerError) return undefined;
      throw error;
    });
  }
}
