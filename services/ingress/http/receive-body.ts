import type { Request, Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import { claimIdempotencyKey } from '../idempotency/claim-key.ts';
import type { HeldBodies } from './held-bodies.ts';
import { identityOf } from './require-key.ts';
import type { ReadBody } from './read-body.ts';

export interface ReceiveParts {
  readBody: ReadBody;
  heldBodies: HeldBodies;
  /** Whether the time to drain is over and the process is about to exit. */
  isEnding: () => boolean;
}

/**
 * A request's body. Its memory stays reserved until the answer is complete or `releaseBody` is called. Keep no reference to the body after
 * that.
 */
export interface ReceivedBody {
  body: Buffer;
  /**
   * Reserves memory for bytes besides the body.
   * @throws RouterError `overloaded` if there is not enough memory for all bodies
   */
  grow: (bytes: number) => void;
  releaseBody: () => void;
}

/**
 * Reads a request's body within the limits of this process, and claims the request's idempotency key. Call it after `requireKey` only.
 * @returns undefined if the client disconnects meanwhile
 * @throws RouterError `overloaded`, `shutting_down`; the errors of `ReadBody` and `claimIdempotencyKey`
 */
export async function receiveBody(
  request: Request,
  response: Response,
  { readBody, heldBodies, isEnding }: ReceiveParts,
): Promise<ReceivedBody | undefined> {
  // The client may have disconnected while its key was checked.
  if (response.destroyed) return undefined;
  const reservation = heldBodies.admit(identityOf(response));
  response.on('close', () => reservation.release());
  const body = await readBody(request, reservation);
  if (response.destroyed) return undefined;
  if (isEnding()) throw new RouterError('shutting_down', 'The router is being restarted.', { retryAfter: 1 });
  const claimed = claimIdempotencyKey(response, body);
  // A request without an idempotency key does not wait, because even that would cost a turn of the microtask queue.
  if (claimed) await claimed;
  return { body, grow: reservation.grow, releaseBody: reservation.releaseBody };
}
