import { isJsonObject, type Json } from '#shared/core/json.ts';
import { noUsage, type Usage } from '#shared/core/usage.ts';
import { completeUsage, readChatUsage } from '#shared/formats/chat/usage.ts';
import type { Minted } from '../translation.ts';

/** The usage of an answer without output tokens: as the upstream reports it, by whichever of its two counts, else estimated. */
export function inputUsage(usage: Json | undefined, { promptTokens }: Pick<Minted, 'promptTokens'>): Usage {
  const total = isJsonObject(usage) ? usage['total_tokens'] : undefined;
  const read = readChatUsage(usage) ?? noUsage;
  const reported = read.promptTokens || (typeof total === 'number' && total > 0 ? Math.round(total) : 0);
  const counted = { ...noUsage, promptTokens: reported, cachedTokens: Math.min(read.cachedTokens, reported) };
  return completeUsage(counted, { prompt: promptTokens, completion: () => 0 });
}
