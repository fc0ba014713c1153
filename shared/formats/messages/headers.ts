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

/**
 * Headers of a `messages` upstream's answers that clients of this format receive (see `AnswerFormat.answerHeaders`). They report the use of
 * a subscription's windows, which Claude Code shows and obeys. The account's limits of requests and tokens
 * (`anthropic-ratelimit-requests-…`) are not included, because the router reports the key's limits under the same names. Headers that name
 * the account are not included either.
 */
export const messagesAnswerHeaders: readonly string[] = ['anthropic-ratelimit-unified-*'];

/**
 * The headers that clients receive with errors. Claude Code reads from them whether and when to retry. It also reads whether the request
 * has thinking that the upstream did not write, and then drops this thinking.
 */
export const messagesErrorHeaders: readonly string[] = [
  ...messagesAnswerHeaders,
  'anthropic-thinking-prefix-mismatch',
  'x-should-retry',
  'retry-after',
];
