import type { LimitStatus } from '../client-format.ts';

/** Returns `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` (OpenAI API guide, "Rate limits in headers"). */
export function createOpenaiLimitHeaders({ at, requests, tokens }: LimitStatus): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [kind, left] of Object.entries({ requests, tokens })) {
    if (!left) continue;
    headers[`x-ratelimit-limit-${kind}`] = String(left.limit);
    headers[`x-ratelimit-remaining-${kind}`] = String(left.remaining);
    headers[`x-ratelimit-reset-${kind}`] = formatDuration(left.resetsAt - at);
  }
  return headers;
}

/** Formats a duration as OpenAI does, such as `20ms`, `1s`, `6m0s` or `5h20m0s`. */
function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, ms)}ms`;
  const seconds = Math.ceil(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return `${hours > 0 ? `${hours}h` : ''}${seconds >= 60 ? `${minutes}m` : ''}${seconds % 60}s`;
}
