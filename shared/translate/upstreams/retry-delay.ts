import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/**
 * Returns the seconds to wait that the fields of an upstream's error report; undefined if they report none. Gemini sends `{retryDelay:
 * "34.07s"}` among the details (Google's `RetryInfo`). For an account's limit, OpenAI sends `resets_in_seconds` or `resets_at` (seconds
 * since 1970).
 */
export function readRetryDelay({
  details,
  resets_in_seconds: resetsInSeconds,
  resets_at: resetsAt,
}: JsonObject): number | undefined {
  if (typeof resetsInSeconds === 'number' && resetsInSeconds >= 0) return resetsInSeconds;
  if (typeof resetsAt === 'number') return Math.max(0, resetsAt - Date.now() / 1000);
  for (const detail of Array.isArray(details) ? details : []) {
    const delay = isJsonObject(detail) ? detail['retryDelay'] : undefined;
    if (typeof delay === 'string' && /^\d{1,9}(\.\d+)?s$/.test(delay)) return Number.parseFloat(delay);
  }
  return undefined;
}
