import type { Request, Response } from 'express';
import { createCookieAttributes, toCookieName, readCookie } from '../session/cookies.ts';

const name = 'rtr-pending';

/** Returns the token of the sign-in that waits for its second step in this browser. */
export function readPendingToken(request: Request): string | undefined {
  return readCookie(request, name);
}

export function setPendingCookie(request: Request, response: Response, token: string): void {
  response.cookie(toCookieName(request, name), token, { ...createCookieAttributes(request), sameSite: 'strict' });
}

export function clearPendingCookie(request: Request, response: Response): void {
  response.clearCookie(toCookieName(request, name), { ...createCookieAttributes(request), sameSite: 'strict' });
}
