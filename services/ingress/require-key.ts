import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import type { KeyIdentity } from '#shared/accounts/key-record.ts';

/** Tells whose key a raw key is, or throws the RouterError that the client is to be told. */
export type VerifyKey = (rawKey: string) => KeyIdentity | Promise<KeyIdentity>;

/**
 * Lets only requests with a valid key pass.
 * @param alsoHeader another header that may carry the key, besides `Authorization: Bearer`
 */
export function requireKey(verify: VerifyKey, alsoHeader?: string): RequestHandler {
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const rawKey = bearerToken(request.get('authorization')) ?? (alsoHeader ? request.get(alsoHeader) : undefined);
    if (!rawKey) {
      throw new RouterError(
        'missing_key',
        "You didn't provide an API key. Send it in the header `Authorization: Bearer <key>`.",
      );
    }
    const identity = verify(rawKey);
    response.locals['identity'] = identity instanceof Promise ? await identity : identity;
    next();
  };
}

/** Whose request this is. Only behind `requireKey`. */
export function identityOf(response: Response): KeyIdentity {
  return response.locals['identity'] as KeyIdentity;
}

function bearerToken(header: string | undefined): string | undefined {
  return header?.match(/^Bearer\s+(\S+)\s*$/i)?.[1];
}
