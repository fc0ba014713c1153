import type { RequestHandler } from 'express';

/** Seconds for which a browser may cache the answer to a preflight: the most that Chromium accepts. */
const preflightSeconds = 7_200;

/** Headers of an answer to a preflight. In requests without credentials, `*` covers any header except `authorization` (Fetch). */
const preflightHeaders = {
  'access-control-allow-methods': 'GET, POST, DELETE',
  'access-control-allow-headers': 'authorization, *',
  'access-control-max-age': String(preflightSeconds),
};

/**
 * Lets web pages of these origins send requests and read the answers (Fetch, "CORS protocol"). Cookies are never allowed, because a page
 * authenticates with a key. The middleware answers preflights itself, because they contain no key. A request from any other origin is
 * served as well, but its page cannot read the answer, because the header is missing. Mount it before every handler that answers or
 * refuses.
 * @param origins exact origins, or `*` for all
 */
export function allowOrigins(origins: readonly string[]): RequestHandler {
  const isOpen = origins.includes('*');
  const allowed = new Set(origins);
  return (request, response, next) => {
    if (!isOpen) response.vary('origin');
    const origin = request.get('origin');
    if (origin === undefined || !(isOpen || allowed.has(origin))) return next();
    response.setHeader('access-control-allow-origin', isOpen ? '*' : origin);
    if (request.method === 'OPTIONS' && request.get('access-control-request-method') !== undefined) {
      response.writeHead(204, preflightHeaders).end();
      return;
    }
    response.setHeader('access-control-expose-headers', '*');
    next();
  };
}

/**
 * Returns whether a text is an origin as browsers send it: `https://app.example.com`, with a port only if it differs from the scheme's
 * default.
 */
export function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.host !== '' && !text.includes('*') && `${url.protocol}//${url.host}` === text;
}
