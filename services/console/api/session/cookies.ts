import type { CookieOptions, Request } from 'express';

/**
 * Returns the name that a cookie of the console has for this request. Over TLS, browsers accept a name with this prefix only from this
 * host, with `Secure` and for all paths (draft-ietf-httpbis-rfc6265bis, "The __Host- Prefix"). Without TLS, as on localhost, they would not
 * store it.
 */
export function cookieName(request: Request, name: string): string {
  return request.secure ? `__Host-${name}` : name;
}

/**
 * Returns the value of a cookie of the console in a request.
 * @param name the name without the prefix
 */
export function cookieOf(request: Request, name: string): string | undefined {
  const start = `${cookieName(request, name)}=`;
  return cookiesOf(request)
    .find((cookie) => cookie.startsWith(start))
    ?.slice(start.length);
}

/**
 * Returns the names of the console's cookies in a request, in their order, each once.
 * @param form matches the name without the prefix
 */
export function cookiesLike(request: Request, form: RegExp): string[] {
  const prefix = cookieName(request, '');
  const names = cookiesOf(request).flatMap((cookie) => {
    const [whole = ''] = cookie.split('=', 1);
    return whole.startsWith(prefix) ? [whole.slice(prefix.length)] : [];
  });
  return [...new Set(names)].filter((name) => form.test(name));
}

function cookiesOf(request: Request): string[] {
  return (request.get('cookie') ?? '').split(';').map((cookie) => cookie.trim());
}

/**
 * Returns the attributes of every cookie of the console. With them no script can read the cookie, and from pages of other sites it is sent
 * only when the person follows a link.
 */
export function cookieAttributes(request: Request): CookieOptions {
  return { httpOnly: true, sameSite: 'lax', path: '/', secure: request.secure };
}
