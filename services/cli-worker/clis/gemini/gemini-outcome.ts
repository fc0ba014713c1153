import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { Usage } from '#shared/core/usage.ts';
import { upstreamError } from '#shared/translate/upstreams/upstream-error.ts';
import type { Outcome } from '../../answer/outcome.ts';
import { JsonRpcError } from '../../process/json-rpc-peer.ts';

/**
 * Reads how an answer ended from the result of its prompt.
 * @throws RouterError when it was cut off: Gemini CLI then reports `end_turn` with no token counted
 */
export function readGeminiOutcome({ stopReason, _meta: meta }: JsonObject): Outcome {
  const usage = readCounts(meta);
  if (stopReason === 'cancelled')
    throw new RouterError('upstream_failed', 'The CLI stopped before its answer was complete.');
  if (usage === undefined) {
    throw new RouterError('upstream_failed', 'The upstream ended the answer before it was complete.');
  }
  return { finishReason: finishReasonFor(stopReason), usage };
}

/** The router's error for one of Gemini CLI's, whose codes are the upstream's HTTP statuses. */
export function geminiFailure(method: string, error: unknown): unknown {
  if (!(error instanceof JsonRpcError)) return error;
  const { code, message } = error;
  if (typeof code === 'number' && code >= 400 && code <= 599) {
    return upstreamError({ status: code, message: sentenceIn(message), retryAfter: undefined });
  }
  return new RouterError('upstream_failed', `The CLI refused '${method}'.`, { cause: error });
}

function finishReasonFor(stopReason: Json | undefined): string {
  switch (stopReason) {
    case 'max_tokens':
      return 'length';
    case 'refusal':
      return 'content_filter';
    default:
      return 'stop';
  }
}

function readCounts(meta: Json | undefined): Usage | undefined {
  const quota = isJsonObject(meta) ? meta['quota'] : undefined;
  const counts = isJsonObject(quota) ? quota['token_count'] : undefined;
  if (!isJsonObject(counts)) return undefined;
  const count = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);
  const [promptTokens, completionTokens] = [count(counts['input_tokens']), count(counts['output_tokens'])];
  if (promptTokens + completionTokens === 0) return undefined;
  return { promptTokens, cachedTokens: 0, cacheWriteTokens: 0, completionTokens, reasoningTokens: 0 };
}

/** The upstream's sentence, where the message is its whole answer. */
function sentenceIn(message: string): string {
  const sentence = /"message"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(message)?.[1];
  return sentence === undefined ? message : (JSON.parse(sentence) as string);
}
