import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Router } from 'express';

const securityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  // Swagger UI sets styles of elements.
  "style-src 'self' 'unsafe-inline'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const pageHtml = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Model Router: Admin API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
<div id="page"></div>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</html>
`;

const startScript = `window.SwaggerUIBundle({ url: 'openapi.json', dom_id: '#page', docExpansion: 'list', persistAuthorization: false });
`;

const files = ['swagger-ui.css', 'swagger-ui-bundle.js'];

/**
 * Creates the routes of the page `docs`, which shows the Admin API's document with Swagger UI. The page loads nothing from other servers.
 */
export function createApiPage(): Router {
  const root = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const routes = Router({ caseSensitive: true, strict: true });
  routes.get('/docs', (_, response) => {
    response
      .set({ 'content-security-policy': securityPolicy, 'referrer-policy': 'no-referrer' })
      .type('html')
      .send(pageHtml);
  });
  routes.get('/docs/start.js', (_, response) => {
    response.type('text/javascript').send(startScript);
  });
  for (const file of files) {
    routes.get(`/docs/${file}`, (_, response) => response.sendFile(file, { root, cacheControl: false }));
  }
  return routes;
}
