import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import type { KeyIdentity } from '#shared/accounts/keys/key-record.ts';
import { getRequestContext } from './request-context.ts';

/**
 * Resolves a raw key to its identity.
 * @throws RouterError, which the client receives
 */
export type VerifyKey = (rawKey: string) => KeyIdentity | Promise<KeyIdentity>;

/**
 * Resolves the console session of a request to an identity; undefined if the request has no session.
 * @throws RouterError as `VerifyKey` does
 */
export type VerifySession = (request: Request) => Promise<KeyIdentity | undefined>;

export interface RequireKeyParts {
  verifyKey: VerifyKey;
  verifySession: VerifySession;
  /** Called for every request that a key authorizes. */
  noteUse: (keyId: string) => void;
}

/**
 * Admits requests with a valid key. A request without any key is admitted if it has a sign-in session of the console.
 * @param otherHeader another header that may carry the key, besides `Authorization: Bearer`
 */
export function requireKey(parts: RequireKeyParts, otherHeader?: string): RequestHandler {
  const { verifyKey, verifySession, noteUse } = parts;
  return async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    const { authorization } = request.headers;
    const bearer = readBearerToken(authorization);
    const rawKey = bearer ?? (otherHeader ? request.get(otherHeader) : undefined);
    if (!rawKey) {
      const person = authorization === undefined ? await verifySession(request) : undefined;
      if (!person) {
        throw new RouterError(
          'missing_key',
          "You didn't provide an API key. Send it in the header `Authorization: Bearer <key>`.",
        );
      }
      getRequestContext(response).sender = person;
      return next();
    }
    try {
      const verified = verifyKey(rawKey);
      const identity = verified instanceof Promise ? await verified : verified;
      noteUse(identity.id);
      getRequestContext(response).sender = identity;
    } catch (error) {
      throw otherHeader !== undefined && bearer !== undefined ? withAuthorizationParam(error) : error;
    }
    next();
  };
}

/** Names `authorization` as the parameter of an `invalid_api_key` error, for routes that accept a key in two headers. */
function withAuthorizationParam(error: unknown): unknown {
  if (!(error instanceof RouterError) || error.code !== 'invalid_api_key') return error;
  return new RouterError(error.code, error.message, { param: 'authorization', cause: error });
}

/** Returns the token of an `Authorization` header; undefined for another scheme. */
export function readBearerToken(header: string | undefined): string | undefined {
  return header?.match(/^Bearer\s+(\S+)\s*$/i)?.[1];
}
