import type { Request, Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import type { HeldBodies } from './held-bodies.ts';
import type { ReadBody } from './read-body.ts';

export interface ReceiveParts {
  readBody: ReadBody;
  held: HeldBodies;
  isDraining: () => boolean;
}

/** A request's body. It counts as held until its answer is over or `releaseBody` is called: keep it no longer than that. */
export interface ReceivedBody {
  body: Buffer;
  releaseBody: () => void;
}

/**
 * Reads a request's body within all bounds.
 * @returns undefined when the client has gone meanwhile
 * @throws RouterError as reading does, `overloaded`, or `shutting_down`
 */
export async function receiveBody(
  request: Request,
  response: Response,
  { readBody, held, isDraining }: ReceiveParts,
): Promise<ReceivedBody | undefined> {
  // The client may have gone while its key was checked.
  if (response.destroyed) return undefined;
  const holding = held.open();
  response.on('close', () => holding.release());
  const body = await readBody(request, holding.grow);
  if (response.destroyed) return undefined;
  if (isDraining()) throw new RouterError('shutting_down', 'The router is being restarted.', { retryAfter: 1 });
  return { body, releaseBody: holding.releaseBody };
}
