import type { JsonObject } from '#shared/core/json.ts';
import { lacksInputTokens, withInputTokens } from '#shared/formats/context-overflow.ts';
import type { WrittenRequest } from '#shared/upstream/request-writer.ts';
import { countedFormat } from '#shared/upstream/token-counter.ts';
import type { EngineHttp } from '../engine-http.ts';
import type { Engine } from '../engines/engine.ts';

/** Maximum milliseconds for counting the tokens of a request that the engine has refused. */
const timeoutMs = 10_000;

/**
 * Adds the number of input tokens to an engine's error that says that the request does not fit but not how long it is. Returns other errors
 * unchanged.
 */
export async function addInputTokens(
  error: unknown,
  { route, body }: Pick<WrittenRequest, 'route' | 'body'>,
  engine: Pick<Engine, 'countTokens'>,
  http: EngineHttp,
  signal: AbortSignal,
): Promise<unknown> {
  if (!engine.countTokens || route.format !== countedFormat || !lacksInputTokens(error)) return error;
  const sentRequest = JSON.parse(Buffer.concat(body).toString()) as JsonObject;
  try {
    const abortOrTimeout = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
    return withInputTokens(error, await engine.countTokens(http, sentRequest, abortOrTimeout));
  } catch {
    // The error is complete without the count.
    return error;
  }
}
