import type { JsonObject } from '#shared/core/json.ts';
import { countWithTokenizer } from '#shared/upstream/count-with-tokenizer.ts';
import { UpstreamAnswerError } from '#shared/upstream/upstream-http.ts';
import type { EngineHttp } from './engine-http.ts';
import type { Engine } from './engines/engine.ts';

/** Milliseconds for an engine to count. */
const timeoutMs = 30_000;

export interface CountOptions {
  http: EngineHttp;
  engine: Engine;
  /** A request in the engine's dialect. */
  request: JsonObject;
  signal: AbortSignal;
}

/**
 * Tokens of a request's input: counted by the engine where it can, by a tokenizer of ours where it cannot or is of a
 * version that cannot yet. Never 0.
 */
export async function countTokens({ http, engine, request, signal }: CountOptions): Promise<number> {
  const counted = await engine
    .countTokens?.(http, request, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]))
    .catch((error: unknown) => {
      if (error instanceof UpstreamAnswerError) return undefined;
      throw error;
    });
  return Math.max(1, counted ?? (await countWithTokenizer(request)));
}
