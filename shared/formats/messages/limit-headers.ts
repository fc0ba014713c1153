import type { LimitStatus } from '../client-format.ts';

/**
 * Returns `anthropic-ratelimit-{requests,tokens}-{limit,remaining,reset}`, with RFC 3339 times (Anthropic API guide, "Rate limits").
 */
export function createMessagesLimitHeaders({ requests, tokens }: LimitStatus): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [kind, left] of Object.entries({ requests, tokens })) {
    if (!left) continue;
    headers[`anthropic-ratelimit-${kind}-limit`] = String(left.limit);
    headers[`anthropic-ratelimit-${kind}-remaining`] = String(left.remaining);
    headers[`anthropic-ratelimit-${kind}-reset`] = new Date(left.resetsAt).toISOString();
  }
  return headers;
}
