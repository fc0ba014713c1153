import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';

/** Tells whose key a raw key is, or throws the RouterError that the client is to be told. */
export type VerifyKey = (rawKey: string) => KeyIdentity | Promise<KeyIdentity>;

/** Tells whom the session of a console's page stands for; undefined when the request has none. Throws as VerifyKey does. */
export type VerifySession = (request: Request) => Promise<KeyIdentity | undefined>;

export interface RequireKeyParts {
  verifyKey: VerifyKey;
  verifySession: VerifySession;
  /** Hears of every request that a key has let in. */
  noteUse: (keyId: string) => void;
}

/**
 * Lets only requests with a valid key pass, or, without any key, those of a page of the console with a session.
 * @param alsoHeader another header that may carry the key, besides `Authorization: Bearer`
 */
export function requireKey(parts: RequireKeyParts, alsoHeader?: string): RequestHandler {
  const { verifyKey, verifySession, noteUse } = parts;
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const authorization = request.get('authorization');
    const rawKey = bearerToken(authorization) ?? (alsoHeader ? request.get(alsoHeader) : undefined);
    if (!rawKey) {
      const person = authorization === undefined ? await verifySession(request) : undefined;
      if (!person) {
        throw new RouterError(
          'missing_key',
          "You didn't provide an API key. Send it in the header `Authorization: Bearer <key>`.",
        );
      }
      response.locals['identity'] = person;
      return next();
    }
    const verified = verifyKey(rawKey);
    const identity = verified instanceof Promise ? await verified : verified;
    noteUse(identity.id);
    response.locals['identity'] = identity;
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
