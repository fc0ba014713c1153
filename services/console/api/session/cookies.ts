import type { CookieOptions, Request } from 'express';

/**
 * Returns the name that a cookie of the console has for this request. Over TLS, browsers accept a name with this prefix only from this
 * host, with `Secure` and for all paths (draft-ietf-httpbis-rfc6265bis, "The __Host- Prefix"). Without TLS, as on localhost, browsers would
 * not store a cookie with the prefix.
 */
export function cookieName(request: Request, name: string): string {
  return request.secure ? `__Host-${name}` : name;
}

/**
 * Returns the value of a cookie of the console in a request.
 * @param name the name without the prefix
 */
export function readCookie(request: Request, name: string): string | undefined {
  const start = `${cookieName(request, name)}=`;
  return splitCookies(request)
    .find((cookie) => cookie.startsWith(start))
    ?.slice(start.length);
}

/**
 * Returns the names of the console's cookies in a request, in the order of the request, each once.
 * @param form matches the name without the prefix
 */
export function listCookieNames(request: Request, form: RegExp): string[] {
  const prefix = cookieName(request, '');
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
 * Returns the attributes of every cookie of the console. With them no script can read the cookie, and from pages of other sites it is sent
 * only when the person follows a link.
 */
export function cookieAttributes(request: Request): CookieOptions {
  return { httpOnly: true, sameSite: 'lax', path: '/', secure: request.secure };
}
