import { RouterError } from '#shared/core/errors.ts';

/** What callers are told when Redis did not do as told in time. The library's errors carry the command with its arguments, which belong in no log: only the message goes on. */
export function storeUnavailable(error: unknown): RouterError {
  const reason = error instanceof Error ? error.message : String(error);
  return new RouterError('store_unavailable', 'The account store does not answer. Please try again soon.', {
    retryAfter: 2,
    cause: new Error(`redis: ${reason}`),
  });
}
