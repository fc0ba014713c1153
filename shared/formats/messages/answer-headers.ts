/**
 * Headers of a messages upstream's answers that clients of this format receive, see `AnswerFormat.answerHeaders`: how far the
 * windows of a subscription are used, which Claude Code shows and obeys. The account's limits of requests and tokens
 * (`anthropic-ratelimit-requests-…`) are not among them, because the router reports those of the key by the same names; nor is
 * what names the account.
 */
export const messagesAnswerHeaders: readonly string[] = ['anthropic-ratelimit-unified-*'];

/** The same for errors: Claude Code tries again by them, and drops the thinking that an upstream names as another one's. */
export const messagesErrorHeaders: readonly string[] = [
  ...messagesAnswerHeaders,
  'anthropic-thinking-prefix-mismatch',
  'x-should-retry',
  'retry-after',
];
