import type { JsonObject } from '#shared/core/json.ts';

/** Some engines read only `max_tokens`, so the newer `max_completion_tokens` is said under the older name. */
export function sameMaxTokens(request: JsonObject): JsonObject {
  const { max_completion_tokens: newer, ...rest } = request;
  return newer === undefined || newer === null ? rest : { ...rest, max_tokens: newer };
}
