import type { Request, Response } from 'express';
import { createShuttingDownError, RouterError } from '#shared/core/errors.ts';
import type { BodyReservation } from '../http/body-reservation.ts';
import { getRequestContext } from '../http/request-context.ts';
import type { RequestParts } from '../http/request-parts.ts';

/** Bytes of memory that are reserved for an upload: two parts of the upload to S3, and the bytes on their way from the client to S3. */
const uploadBytes = 20 * 1024 * 1024;

export interface Upload {
  /** Released when the client disconnects. */
  reservation: BodyReservation;
  /** The length that the client states; undefined if it states none. */
  expectedBytes: number | undefined;
  /** Aborts when the client disconnects. */
  signal: AbortSignal;
}

/**
 * Reserves memory for a body that is sent on to the store while it arrives. Call it only after `requireKey`.
 * @throws RouterError `overloaded`, `rate_limit_exceeded`, `shutting_down`; `invalid_request` if the client has disconnected
 */
export function beginUpload(
  request: Request,
  response: Response,
  { heldBodies, isEnding }: Pick<RequestParts, 'heldBodies' | 'isEnding'>,
): Upload {
  if (isEnding()) throw createShuttingDownError();
  // If the client has disconnected meanwhile, nothing would release the memory of its request.
  if (response.destroyed) throw new RouterError('invalid_request', 'The upload was cut off.');
  const statedBytes = Number(request.headers['content-length']);
  const expectedBytes = Number.isSafeInteger(statedBytes) ? statedBytes : undefined;
  const reservation = heldBodies.admit(getRequestContext(response).identity);
  const clientGone = new AbortController();
  response.on('close', () => {
    clientGone.abort(new RouterError('invalid_request', 'The client has disconnected.'));
    reservation.release();
  });
  reservation.grow(Math.min(expectedBytes ?? uploadBytes, uploadBytes));
  return { reservation, expectedBytes, signal: clientGone.signal };
}
