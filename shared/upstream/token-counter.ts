import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { JsonObject } from '#shared/core/json.ts';
import { countWithTokenizer } from './count-with-tokenizer.ts';
import { UpstreamAnswerError } from './upstream-failure.ts';

/** Milliseconds for an upstream to count. */
const timeoutMs = 30_000;

/** Counts that are remembered, by the content that was counted. */
const cached = { max: 1_000, ttl: 10 * 60_000 };

/** Answers whose true count is compared with ours for each model, at most, and how long a request may be for that. */
const lessons = { perModel: 20, maxChars: 64 * 1024 };

interface Scale {
  /** True tokens for each token of our own tokenizer. */
  ratio: number;
  lessons: number;
}

/** Asks the upstream how many tokens a chat request's input has. */
type Ask = (request: JsonObject, signal: AbortSignal) => Promise<number>;

/**
 * Counts the tokens of chat requests' inputs without inference: asks the upstream where it can count; elsewhere counts with
 * a tokenizer of ours and scales that by what the model's own first answers reported.
 */
export class TokenCounter {
  readonly #ask: Ask | undefined;
  readonly #counts = new LRUCache<string, number>(cached);
  readonly #scales = new Map<string, Scale>();

  /** @param ask rejects with an UpstreamAnswerError where the upstream is of a version that cannot count yet */
  constructor(ask: Ask | undefined) {
    this.#ask = ask;
  }

  /**
   * Tokens of a request's input, never 0.
   * @param request as the upstream gets it
   */
  async count(request: JsonObject, model: string, signal: AbortSignal): Promise<number> {
    const key = hash('sha256', `${model}\n${JSON.stringify(request)}`);
    const known = this.#counts.get(key);
    if (known !== undefined) return known;
    const asked = await this.#asked(request, signal);
    const count = asked ?? Math.round((await countWithTokenizer(request, signal)) * this.#scaleOf(model).ratio);
    // An upstream that can count is asked again next time.
    if (asked !== undefined || !this.#ask) this.#counts.set(key, Math.max(1, count));
    return Math.max(1, count);
  }

  /**
   * Learns from an answer how the model's own tokenizer compares to ours, where the upstream cannot be asked.
   * @returns what to call with the answer's own count; undefined when there is nothing (more) to be learnt, so that the
   * request need not be held for it
   */
  lesson(request: JsonObject, model: string): ((promptTokens: number) => void) | undefined {
    if (this.#ask || this.#scaleOf(model).lessons >= lessons.perModel) return undefined;
    const text = JSON.stringify([request.messages, request.tools]);
    // An image's price is no matter of tokenizers.
    if (text.length > lessons.maxChars || text.includes('"image_url"')) return undefined;
    return (promptTokens) => {
      // Nobody waits for it, and a count that fails teaches nothing.
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

  /** Undefined when the upstream cannot count. */
  #asked(request: JsonObject, signal: AbortSignal): Promise<number | undefined> | undefined {
    return this.#ask?.(request, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])).catch((error: unknown) => {
      if (error instanceof UpstreamAnswerError) return undefined;
      throw error;
    });
  }
}
