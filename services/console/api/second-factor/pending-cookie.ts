import type { Request, Response } from 'express';
import { cookieAttributes, cookieName, readCookie } from '../session/cookies.ts';

const name = 'rtr-pending';

/** Returns the token of the sign-in whose second step this browser has to do. */
export function pendingTokenOf(request: Request): string | undefined {
  return readCookie(request, name);
}

export function setPendingCookie(request: Request, response: Response, token: string): void {
  response.cookie(cookieName(request, name), token, { ...cookieAttributes(request), sameSite: 'strict' });
}

export function clearPendingCookie(request: Request, response: Response): void {
  response.clearCookie(cookieName(request, name), { ...cookieAttributes(request), sameSite: 'strict' });
}
