import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { JsonObject } from '#shared/core/json.ts';
import { chatUpstream } from '#shared/translate/upstreams/chat/chat-upstream.ts';
import { countWithTokenizer } from './count-with-tokenizer.ts';
import { UpstreamAnswerError } from './upstream-failure.ts';

/** Milliseconds after which a count is given up. */
const countTimeoutMs = 30_000;

/** Timeout of a count, in milliseconds, while the upstream generates an answer that must begin with the count. */
const earlyTimeoutMs = 5_000;

/** Milliseconds after a refused count without further counts beside answers. */
const refusalMs = 60_000;

/** Maximum bytes of a request that is sent a second time to be counted. */
const maxEarlyBytes = 1024 * 1024;

/** Maximum number of cached counts, and their lifetime in milliseconds. */
const cacheLimits = { max: 1_000, ttl: 10 * 60_000 };

/** Maximum number of answers per model that calibrate the router's counts, and maximum bytes of their requests. */
const calibrationLimits = { perModel: 20, maxBytes: 64 * 1024 };

/** The format of the requests that are counted. */
export const countedFormat = chatUpstream;

interface Scale {
  /** Tokens of the model's tokenizer per token of the router's tokenizer. */
  ratio: number;
  samples: number;
}

type UpstreamCount = (request: JsonObject, signal: AbortSignal) => Promise<number>;

/**
 * Counts the input tokens of chat requests without inference. The upstream counts the tokens if it can. Otherwise the router's tokenizer
 * counts them, scaled by the counts that the model's first answers reported.
 */
export class TokenCounter {
  readonly #countByUpstream: UpstreamCount | undefined;
  readonly #counts = new LRUCache<string, number>(cacheLimits);
  readonly #scales = new Map<string, Scale>();
  #refusedUntil = 0;

  /** @param countByUpstream rejects with an UpstreamAnswerError if the upstream's version cannot count; undefined if no version can */
  constructor(countByUpstream: UpstreamCount | undefined) {
    this.#countByUpstream = countByUpstream;
  }

  /**
   * Returns the input tokens of a request, at least 1.
   * @param request the request as it would be sent to the upstream
   */
  async count(request: JsonObject, model: string, signal: AbortSignal): Promise<number> {
    const key = hash('sha256', `${model}\n${JSON.stringify(request)}`);
    const cached = this.#counts.get(key);
    if (cached !== undefined) return cached;
    const upstreamCount = await this.#tryUpstream(request, signal);
    const count =
      upstreamCount ?? Math.round((await countWithTokenizer(request, signal)) * this.#findScale(model).ratio);
    // If the upstream can count, an estimate is not cached, so that the next call requests the count again.
    if (upstreamCount !== undefined || !this.#countByUpstream) this.#counts.set(key, Math.max(1, count));
    return Math.max(1, count);
  }

  /**
   * Asks the upstream for the input tokens of a request while it generates the answer. Never rejects, because the answer continues without
   * a count.
   * @param bytes length of the request in JSON
   * @returns undefined, or a promise of undefined, if the upstream cannot count or the request is too long to be sent twice
   */
  countAtUpstream(request: JsonObject, bytes: number, signal: AbortSignal): Promise<number | undefined> | undefined {
    if (!this.#countByUpstream || bytes > maxEarlyBytes || performance.now() < this.#refusedUntil) return undefined;
    return this.#countByUpstream(request, AbortSignal.any([signal, AbortSignal.timeout(earlyTimeoutMs)])).catch(
      (error: unknown) => {
        if (error instanceof UpstreamAnswerError) this.#refusedUntil = performance.now() + refusalMs;
        return undefined;
      },
    );
  }

  /** Does the same as `countAtUpstream` for a request whose length in JSON is unknown. */
  countObjectAtUpstream(request: JsonObject, signal: AbortSignal): Promise<number | undefined> | undefined {
    return this.countAtUpstream(request, JSON.stringify(request).length, signal);
  }

  /**
   * Calibrates the router's counts with an answer, if the upstream cannot count. Measures the ratio of the model's tokens to the router's.
   * @param bytes length of the request in JSON
   * @returns a function to call with the count that the answer reports; undefined if no calibration is needed, so that the request need not
   * be kept
   */
  createCalibration(request: JsonObject, model: string, bytes: number): ((promptTokens: number) => void) | undefined {
    if (
      this.#countByUpstream ||
      bytes > calibrationLimits.maxBytes ||
      this.#findScale(model).samples >= calibrationLimits.perModel
    )
      return undefined;
    // The tokens of an image do not depend on the tokenizer.
    if (JSON.stringify(request.messages).includes('"image_url"')) return undefined;
    return (promptTokens) => {
      // The count is not awaited, and a failed count is ignored.
      this.#calibrate(request, model, promptTokens).catch(() => undefined);
    };
  }

  async #calibrate(request: JsonObject, model: string, promptTokens: number): Promise<void> {
    if (promptTokens < 1) return;
    const ratio = promptTokens / Math.max(1, await countWithTokenizer(request, AbortSignal.timeout(countTimeoutMs)));
    const scale = this.#findScale(model);
    const ratioSoFar = scale.samples === 0 ? ratio : scale.ratio + (ratio - scale.ratio) / (scale.samples + 1);
    this.#scales.set(model, { ratio: ratioSoFar, samples: scale.samples + 1 });
    this.#counts.clear();
  }

  #findScale(model: string): Scale {
    return this.#scales.get(model) ?? { ratio: 1, samples: 0 };
  }

  /** Asks the upstream for a count. Returns undefined if it cannot count. */
  #tryUpstream(request: JsonObject, signal: AbortSignal): Promise<number | undefined> | undefined {
    return this.#countByUpstream?.(request, AbortSignal.any([signal, AbortSignal.timeout(countTimeoutMs)])).catch(
      (error: unknown) => {
        if (error instanceof UpstreamAnswerError) return undefined;
        throw error;
      },
    );
  }
}
