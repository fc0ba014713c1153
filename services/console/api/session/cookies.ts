import type { CookieOptions, Request, Response } from 'express';

/**
 * Returns the name of a console cookie for this request, which over TLS has the prefix `__Host-`. Browsers accept the prefix only from this
 * host, with `Secure` and for all paths (draft-ietf-httpbis-rfc6265bis, "The __Host- Prefix"). Without TLS, as on localhost, browsers would
 * not store a cookie with the prefix.
 */
export function toCookieName(request: Request, name: string): string {
  return request.secure ? `__Host-${name}` : name;
}

/**
 * Returns the value of a console cookie in a request.
 * @param name the name without the prefix
 */
export function readCookie(request: Request, name: string): string | undefined {
  const start = `${toCookieName(request, name)}=`;
  return splitCookies(request)
    .find((cookie) => cookie.startsWith(start))
    ?.slice(start.length);
}

/**
 * Returns the names of the console's cookies in a request, in the order of the request, each once.
 * @param form matches the name without the prefix
 */
export function listCookieNames(request: Request, form: RegExp): string[] {
  const prefix = toCookieName(request, '');
  const names = splitCookies(request).flatMap((cookie) => {
    const [whole = ''] = cookie.split('=', 1);
    return whole.startsWith(prefix) ? [whole.slice(prefix.length)] : [];
  });
  return [...new Set(names)].filter((name) => form.test(name));
}

function splitCookies(request: Request): string[] {
  return (request.get('cookie') ?? '').split(';').map((cookie) => cookie.trim());
}

/**
 * Returns the attributes of every console cookie. Scripts cannot read such a cookie. From a page of another site, browsers send the cookie
 * only when the person follows a link.
 */
export function createCookieAttributes(request: Request): CookieOptions {
  return { httpOnly: true, sameSite: 'lax', path: '/', secure: request.secure };
}

/** The cookie of a session. */
const sessionName = 'rtr';

/** Milliseconds after which the cookie expires. A session lasts 30 days at most. */
const maxAge = 30 * 24 * 3_600_000;

export function readSessionId(request: Request): string | undefined {
  return readCookie(request, sessionName);
}

export function setSessionCookie(request: Request, response: Response, sessionId: string): void {
  response.cookie(toCookieName(request, sessionName), sessionId, { ...createCookieAttributes(request), maxAge });
}

export function clearSessionCookie(request: Request, response: Response): void {
  response.clearCookie(toCookieName(request, sessionName), createCookieAttributes(request));
}

/** The cookie of a sign-in that waits for its second step. */
const pendingName = 'rtr-pending';

/** Returns the token of the sign-in that waits for its second step in this browser. */
export function readPendingToken(request: Request): string | undefined {
  return readCookie(request, pendingName);
}

export function setPendingCookie(request: Request, response: Response, token: string): void {
  response.cookie(toCookieName(request, pendingName), token, createPendingAttributes(request));
}

export function clearPendingCookie(request: Request, response: Response): void {
  response.clearCookie(toCookieName(request, pendingName), createPendingAttributes(request));
}

/** Returns the attributes of the cookie of a waiting sign-in, which browsers send only from the console's own pages. */
function createPendingAttributes(request: Request): CookieOptions {
  return { ...createCookieAttributes(request), sameSite: 'strict' };
}
