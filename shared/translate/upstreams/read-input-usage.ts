import { isJsonObject, type Json } from '#shared/core/json.ts';
import { noUsage, readCount, type Usage } from '#shared/core/usage.ts';
import { fillUsage, readChatUsage } from '#shared/formats/chat/usage.ts';
import type { AnswerContext } from '../translation.ts';

/**
 * Returns the usage of an answer without output tokens. The input tokens are the prompt count or the total that the upstream reports;
 * without both, an estimate.
 */
export function readInputUsage(usage: Json | undefined, { promptTokens }: Pick<AnswerContext, 'promptTokens'>): Usage {
  const total = isJsonObject(usage) ? usage['total_tokens'] : undefined;
  const read = readChatUsage(usage) ?? noUsage;
  const reported = read.promptTokens || readCount(total);
  const counted = { ...noUsage, promptTokens: reported, cachedTokens: Math.min(read.cachedTokens, reported) };
  return fillUsage(counted, { prompt: promptTokens, completion: () => 0 });
}
