import type { CookieOptions, Request, Response } from 'express';

/** Milliseconds: the longest that a session can last. */
const maxAge = 30 * 24 * 3_600_000;

/**
 * The cookie's name. Over TLS, browsers accept a name with this prefix only from this host, with `Secure` and for all paths
 * (draft-ietf-httpbis-rfc6265bis, "The __Host- Prefix"). Without TLS, as on localhost, they would not store it.
 */
function cookieName(request: Request): string {
  return request.secure ? '__Host-rtr' : 'rtr';
}

/** The session id that a request carries. */
export function sessionIdOf(request: Request): string | undefined {
  const start = `${cookieName(request)}=`;
  const cookies = (request.get('cookie') ?? '').split(';').map((cookie) => cookie.trim());
  return cookies.find((cookie) => cookie.startsWith(start))?.slice(start.length);
}

export function setSessionCookie(request: Request, response: Response, sessionId: string): void {
  response.cookie(cookieName(request), sessionId, { ...attributes(request), maxAge });
}

export function clearSessionCookie(request: Request, response: Response): void {
  response.clearCookie(cookieName(request), attributes(request));
}

function attributes(request: Request): CookieOptions {
  return { httpOnly: true, sameSite: 'lax', path: '/', secure: request.secure };
}
