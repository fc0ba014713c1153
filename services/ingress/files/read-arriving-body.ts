import type { IncomingMessage } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import type { BodyReservation } from '../http/body-reservation.ts';
import { findBodyDigest } from '../idempotency/body-digest.ts';

/**
 * Yields the body of a request as it arrives. Only time in which the reader waits for a piece counts towards the timeout. The request stays
 * open when the reader ends early, so that it can be answered.
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
  const ending = new AbortController();
  let isLate = false;
  let isOver = false;
  // Small bodies arrive together with their headers and are complete by then.
  process.nextTick(() => {
    if (!request.complete && !isOver) reservation?.markSlow((error) => ending.abort(error));
  });
  try {
    for (;;) {
      const piece = await awaitPiece(pieces.next(), timeoutMs, ending.signal);
      if (piece.done === true) break;
      digest?.update(piece.value as Uint8Array);
      yield piece.value as Uint8Array;
    }
  } catch (error) {
    isLate = error instanceof RouterError;
    throw isLate ? error : cutOff(error);
  } finally {
    isOver = true;
    reservation?.markArrived();
    // Lets other readers read the rest of the request. After a timeout a piece is still awaited, and `return` would wait for it.
    if (!isLate) await pieces.return?.(undefined);
  }
  if (!request.complete) throw cutOff(undefined);
}

async function awaitPiece<T>(arriving: Promise<T>, timeoutMs: number, signal: AbortSignal): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(tooSlow(timeoutMs)), timeoutMs);
  const onAbort = (): void => late.reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    return await Promise.race([arriving, late.promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

function cutOff(cause: unknown): RouterError {
  return new RouterError('invalid_request', 'The upload was cut off.', { cause });
}

function tooSlow(timeoutMs: number): RouterError {
  return new RouterError('request_timeout', `Nothing of the upload arrived for ${timeoutMs / 1000} seconds.`);
}
