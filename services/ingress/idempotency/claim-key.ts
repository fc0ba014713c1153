import type { Response } from 'express';

/**
 * Claims the idempotency key of a request, whose body has been read, for its execution.
 * @returns undefined for a request without one
 * @throws what ends the handler: the request is answered with the answer to an earlier one, or is refused
 */
export function claimKey(response: Response, body: Uint8Array): Promise<void> | undefined {
  const claim = response.locals['claimKey'] as ((body: Uint8Array) => Promise<void>) | undefined;
  return claim?.(body);
}

/** Has the execution of a request with an idempotency key go on without its client. Does nothing for a request without one. */
export function runUncancelled(response: Response): void {
  const run = response.locals['runUncancelled'] as (() => void) | undefined;
  run?.();
}
