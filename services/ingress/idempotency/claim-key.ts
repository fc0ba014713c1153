import type { Response } from 'express';

/**
 * Claims the idempotency key of a request for its execution, after the body was read.
 * @returns undefined for a request without a key
 * @throws a value that ends the handler, because the request gets an earlier answer or is refused
 */
export function claimIdempotencyKey(response: Response, body: Uint8Array): Promise<void> | undefined {
  const claim = response.locals['claimKey'] as ((body: Uint8Array) => Promise<void>) | undefined;
  return claim?.(body);
}

/** Makes the execution of a request with an idempotency key continue without its client. Does nothing for a request without a key. */
export function runUncancelled(response: Response): void {
  const run = response.locals['runUncancelled'] as (() => void) | undefined;
  run?.();
}
