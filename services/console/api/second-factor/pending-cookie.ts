import type { CookieOptions, Request, Response } from 'express';

/** See `session-cookie.ts`. */
function cookieName(request: Request): string {
  return request.secure ? '__Host-rtr-pending' : 'rtr-pending';
}

/** The token of the sign-in whose second step this browser has to do. */
export function pendingTokenOf(request: Request): string | undefined {
  const start = `${cookieName(request)}=`;
  const cookies = (request.get('cookie') ?? '').split(';').map((cookie) => cookie.trim());
  return cookies.find((cookie) => cookie.startsWith(start))?.slice(start.length);
}

export function setPendingCookie(request: Request, response: Response, token: string): void {
  response.cookie(cookieName(request), token, attributes(request));
}

export function clearPendingCookie(request: Request, response: Response): void {
  response.clearCookie(cookieName(request), attributes(request));
}

function attributes(request: Request): CookieOptions {
  return { httpOnly: true, sameSite: 'strict', path: '/', secure: request.secure };
}
