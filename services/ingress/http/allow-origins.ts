import type { RequestHandler } from 'express';

/** Seconds for which a browser may keep the answer to a preflight; Chromium keeps it no longer. */
const preflightSeconds = 7_200;

/** What the answer to a preflight allows. `*` stands for any header but `authorization`, in requests without credentials. */
const preflightHeaders = {
  'access-control-allow-methods': 'GET, POST, DELETE',
  'access-control-allow-headers': 'authorization, *',
  'access-control-max-age': String(preflightSeconds),
};

/**
 * Lets web pages of other origins send requests and read the answers (Fetch, "CORS protocol"), never with cookies: a page sends its
 * key. Preflights are answered here, because they carry no key. Requests of any other origin go on without a header that would
 * allow their page to read the answer. Mount it before whatever answers or refuses.
 * @param origins exact origins, or `*` alone for all
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

/** Whether a text is an origin as browsers send it: `https://app.example.com`, with a port if it is not the scheme's own. */
export function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.host !== '' && !text.includes('*') && `${url.protocol}//${url.host}` === text;
}
