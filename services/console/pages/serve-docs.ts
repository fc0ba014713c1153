import { Router } from 'express';
import { PageFolder } from './page-files.ts';
import { createPageHeaders } from './page-headers.ts';
import { sendPageFile } from './send-page-file.ts';

/**
 * Serves the documentation's site at `/docs`, to everybody. Its files are read on the first request.
 * @param folder the built site, which need not exist
 */
export function serveDocs(folder: string): Router {
  const pages = new PageFolder(folder);
  const routes = Router({ caseSensitive: true });
  routes.use('/docs', async (request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') return next('router');
    const site = await pages.load();
    if (!site) {
      const reason = 'The documentation is not built here. In a checkout of the project: npm run docs:site\n';
      return void response.status(404).type('text/plain').send(reason);
    }
    // The links of the first page are relative to the slash.
    if (request.originalUrl === '/docs') return response.redirect(308, '/docs/');
    const { path } = request;
    const page = path === '/' ? site.index : site.files.get(path.endsWith('/') ? `${path}index.html` : `${path}.html`);
    const file = site.files.get(path) ?? page ?? site.files.get('/404.html');
    if (!file) return next('router');
    if (file === site.files.get('/404.html')) response.status(404);
    const isPage = file.type.startsWith('text/html');
    return sendPageFile(request, response, file, isPage ? createPageHeaders(undefined, request.secure) : {});
  });
  return routes;
}
