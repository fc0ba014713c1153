import { toCsvLine, type CsvCell } from '#shared/core/csv.ts';
import type { NamedRequest } from './name-requests.ts';

const columns: Record<string, (request: NamedRequest) => CsvCell> = {
  id: ({ id }) => id,
  at: ({ at }) => new Date(at).toISOString(),
  key_id: ({ key }) => key.id,
  key_name: ({ key }) => key.name,
  owner_kind: ({ owner }) => owner?.kind,
  owner_id: ({ owner }) => owner?.id,
  owner_name: ({ owner }) => owner?.name,
  format: ({ format }) => format,
  operation: ({ operation }) => operation,
  asked: ({ asked }) => asked,
  model: ({ model }) => model,
  tier: ({ tier }) => tier,
  worker: ({ worker }) => worker,
  outcome: ({ outcome }) => outcome,
  code: ({ code }) => code,
  attempts: ({ attempts }) => attempts,
  queue_ms: ({ queueMs }) => queueMs,
  first_token_ms: ({ firstTokenMs }) => firstTokenMs,
  total_ms: ({ totalMs }) => totalMs,
  prompt_tokens: ({ promptTokens }) => promptTokens,
  cached_tokens: ({ cachedTokens }) => cachedTokens,
  completion_tokens: ({ completionTokens }) => completionTokens,
  reasoning_tokens: ({ reasoningTokens }) => reasoningTokens,
  cost_usd: ({ cost }) => cost,
  purpose: ({ purpose }) => purpose,
  rule: ({ rule }) => rule,
  images: ({ images }) => images,
  seconds: ({ seconds }) => seconds,
  characters: ({ characters }) => characters,
  searches: ({ searches }) => searches,
  recorded: ({ recorded }) => (recorded ? 'true' : undefined),
};

export const usageCsvHead = toCsvLine(Object.keys(columns));

export function toUsageCsvLine(request: NamedRequest): string {
  return toCsvLine(Object.values(columns).map((cell) => cell(request)));
}
