import type { Response } from 'express';
import { InvalidKeyError, type RefusedKey } from '#shared/accounts/keys/invalid-key-error.ts';
import type { Refusal } from '#shared/accounts/refusals/refusal-sampler.ts';
import type { RouterError } from '#shared/core/errors.ts';
import { getRequestContext } from './request-context.ts';

/** A request that was refused before any worker got it, and the name of the format in which it was refused. */
export interface RefusedRequest extends Refusal {
  format: string;
}

export type CountRefusal = (refused: RefusedRequest) => void;

/** Returns what the metrics count for a request that ends with this error. */
export function describeRefusal(response: Response, format: string, error: RouterError): RefusedRequest {
  const { requestId, sender, requestedName } = getRequestContext(response);
  return { format, requestId, error, key: sender ?? findRefusedKey(error), asked: requestedName };
}

function findRefusedKey(error: RouterError): RefusedKey | undefined {
  const refusal = [error, error.cause].find((each) => each instanceof InvalidKeyError);
  return refusal?.key;
}
