import { createShuttingDownError } from '#shared/core/errors.ts';
import { computeTextMemory } from '#shared/core/text-memory.ts';
import type { Request, Response } from 'express';
import { getRequestContext } from './request-context.ts';
import type { RequestParts } from './request-parts.ts';

/**
 * Reads a request's body within the limits of this process, and claims the request's idempotency key. The memory of the body
 * (`RequestContext.memory`), as `computeTextMemory` computes it, stays reserved until the answer is complete or the memory is released. No
 * reference to the body may be kept after that. Call it only after `requireKey`.
 * @returns undefined if the client disconnects meanwhile
 * @throws RouterError `overloaded`, `shutting_down`; the errors of `ReadBody` and `IdempotentRequest.claim`
 */
export async function receiveBody(
  request: Request,
  response: Response,
  { readBody, heldBodies, isEnding }: Pick<RequestParts, 'readBody' | 'heldBodies' | 'isEnding'>,
): Promise<Buffer | undefined> {
  // The client may have disconnected while its key was checked.
  if (response.destroyed) return undefined;
  const context = getRequestContext(response);
  const reservation = context.reserveBody(heldBodies);
  const body = await readBody(request, reservation);
  if (response.destroyed) return undefined;
  const moreBytes = computeTextMemory(body) - body.length;
  if (moreBytes > 0) reservation.grow(moreBytes);
  if (isEnding()) throw createShuttingDownError();
  // A request without an idempotency key does not wait, because even that would cost a turn of the microtask queue.
  if (context.keyed) await context.keyed.claim(body);
  return body;
}
