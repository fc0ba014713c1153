import { randomBytes } from 'node:crypto';
import { Router, type RequestHandler } from 'express';
import { PageFolder } from './page-files.ts';
import { createPageHeaders } from './page-headers.ts';
import { sendPageFile } from './send-page-file.ts';

/** The placeholder in the built page for each answer's style nonce. */
export const nonceMark = '__STYLE_NONCE__';

/** Paths without a page, so that a mistyped API path gets the API's 404. */
const nonPagePaths = /^\/(?:api|console\/api|health|metrics)(?:\/|$)/;

/**
 * Serves the files of the console. For every other path it serves the single HTML page, which shows the page of its URL.
 * @param folder the built pages
 */
export function servePages(folder: string): Router {
  const pages = new PageFolder(folder);
  const routes = Router({ caseSensitive: true });
  routes.use((request, _, next) => {
    if ((request.method !== 'GET' && request.method !== 'HEAD') || nonPagePaths.test(request.path))
      return next('router');
    return next();
  });
  routes.use(createFileHandler(pages));
  routes.use(createPageHandler(pages));
  return routes;
}

function createFileHandler(pages: PageFolder): RequestHandler {
  return async (request, response, next) => {
    const file = pages.get(request.path) ?? (await pages.load())?.files.get(request.path);
    // A path with a file extension is never a page.
    if (!file) return next(/\.\w{1,8}$/.test(request.path) ? 'router' : undefined);
    return sendPageFile(request, response, file);
  };
}

function createPageHandler(pages: PageFolder): RequestHandler {
  return async (request, response, next) => {
    // Browsers name HTML in `accept`. A program that accepts anything has mistyped an API path and gets the API's 404.
    if (!request.get('accept')?.includes('text/html')) return next('router');
    const current = await pages.load();
    if (!current) {
      return void response
        .status(request.path === '/' ? 503 : 404)
        .type('text/plain')
        .send(
          'The console is not built yet: run `npm run build`, then load this page again. The API works without it.\n',
        );
    }
    const nonce = randomBytes(16).toString('base64');
    return void response
      .set(createPageHeaders(nonce, request.secure))
      .send(String(current.index.plain).replaceAll(nonceMark, nonce));
  };
}
