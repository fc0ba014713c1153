import type { CookieOptions, Request } from 'express';

/**
 * The name that a cookie of the console has for this request. Over TLS, browsers accept a name with this prefix only from this host, with
 * `Secure` and for all paths (draft-ietf-httpbis-rfc6265bis, "The __Host- Prefix"). Without TLS, as on localhost, they would not store it.
 */
export function cookieName(request: Request, name: string): string {
  return request.secure ? `__Host-${name}` : name;
}

/** The value of a cookie of the console that a request carries. @param name without the prefix */
export function cookieOf(request: Request, name: string): string | undefined {
  const start = `${cookieName(request, name)}=`;
  const cookies = (request.get('cookie') ?? '').split(';').map((cookie) => cookie.trim());
  return cookies.find((cookie) => cookie.startsWith(start))?.slice(start.length);
}

/** What every cookie of the console has: no script reads it, and no page of another site sends it but by a link. */
export function cookieAttributes(request: Request): CookieOptions {
  return { httpOnly: true, sameSite: 'lax', path: '/', secure: request.secure };
}
