import type { CookieOptions, Request } from 'express';

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
