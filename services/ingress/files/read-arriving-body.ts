import type { IncomingMessage } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import type { BodyReservation } from '../http/body-reservation.ts';
import { findBodyDigest } from '../idempotency/body-digest.ts';

/**
 * Yields the body of a request as it arrives. The timeout counts only the time in which the reader waits for a piece. If the reader stops
 * early, the request stays open, so that it can be answered.
 * @param timeoutMs milliseconds without a byte after which reading ends
 * @param reservation the memory reserved for the request; a slow body is ended when another request needs its place
 * @throws RouterError `request_timeout`, `overloaded`; `invalid_request` for a body that is cut off
 */
export async function* readArrivingBody(
  request: IncomingMessage,
  timeoutMs: number,
  reservation?: Pick<BodyReservation, 'markSlow' | 'markArrived'>,
): AsyncGenerator<Uint8Array> {
  const digest = findBodyDigest(request);
  const pieces = request.iterator({ destroyOnReturn: false });
  const endController = new AbortController();
  let isPiecePending = false;
  let isOver = false;
  // A small body arrives together with its headers and is complete in the next turn of the event loop.
  setImmediate(() => {
    if (!request.complete && !isOver) reservation?.markSlow((error) => endController.abort(error));
  });
  try {
    for (;;) {
      const piece = await awaitPiece(pieces.next(), timeoutMs, endController.signal);
      if (piece.done === true) break;
      digest?.update(piece.value as Uint8Array);
      yield piece.value as Uint8Array;
    }
  } catch (error) {
    isPiecePending = error instanceof RouterError;
    throw isPiecePending ? error : cutOffError(error);
  } finally {
    isOver = true;
    reservation?.markArrived();
    // Lets other readers read the rest of the request. After a timeout, a piece is still pending, and `return` would wait for it.
    if (!isPiecePending) await pieces.return?.(undefined);
  }
  if (!request.complete) throw cutOffError(undefined);
}

async function awaitPiece<T>(arriving: Promise<T>, timeoutMs: number, signal: AbortSignal): Promise<T> {
  const failure = Promise.withResolvers<never>();
  const timer = setTimeout(() => failure.reject(slowUploadError(timeoutMs)), timeoutMs);
  const onAbort = (): void => failure.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([arriving, failure.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

function cutOffError(cause: unknown): RouterError {
  return new RouterError('invalid_request', 'The upload was cut off.', { cause });
}

function slowUploadError(timeoutMs: number): RouterError {
  return new RouterError('request_timeout', `Nothing of the upload arrived for ${timeoutMs / 1000} seconds.`);
}
