import type { Response } from 'express';
import { InvalidKeyError, type RefusedKey } from '#shared/accounts/keys/invalid-key-error.ts';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import type { Refusal } from '#shared/accounts/refusals/refusal.ts';
import type { RouterError } from '#shared/core/errors.ts';
import { requestIdOf } from './request-id.ts';

/** A request that was refused before any worker got it, and the name of the format in which it was refused. */
export interface RefusedRequest extends Refusal {
  format: string;
}

export type CountRefusal = (refused: RefusedRequest) => void;

/** Returns what the metrics count for a request that ends with this error. */
export function describeRefusal(response: Response, format: string, error: RouterError): RefusedRequest {
  const identity = response.locals['identity'] as KeyIdentity | undefined;
  return {
    format,
    requestId: requestIdOf(response),
    error,
    key: identity ?? findRefusedKey(error),
    asked: response.locals['asked'] as string | undefined,
  };
}

/** Stores which model or tool a request asked for. To be called only if the request fails, so that it costs other requests nothing. */
export function setRequestedName(response: Response, name: string): void {
  response.locals['asked'] = name;
}

function findRefusedKey(error: RouterError): RefusedKey | undefined {
  const refusal = [error, error.cause].find((each) => each instanceof InvalidKeyError);
  return refusal?.key;
}
