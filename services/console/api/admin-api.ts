import { json, Router } from 'express';
import { answerFailure } from './answer-failure.ts';
import { ApiFailure } from './api-failure.ts';
import type { ApiParts } from './api-parts.ts';
import { apiPage } from './operations/api-page.ts';
import { mountOperations } from './operations/mount-operations.ts';
import { openApiDocument } from './operations/openapi-document.ts';
import type { Operation } from './operations/operation.ts';
import { defaultPageSize } from './operations/page.ts';
import { requireAdminToken, requireScope, type AdminTokenParts } from './tokens/require-admin-token.ts';

const maxBodyBytes = 1024 * 1024;

/**
 * Creates the router of the Admin API, which is mounted at `/api/admin/v1`. It serves the console's operations to programs with an admin
 * token, and the document that describes them to everybody.
 */
export function createAdminApi(
  parts: AdminTokenParts & Pick<ApiParts, 'log'>,
  operations: readonly Operation[],
): Router {
  let document: Buffer | undefined;
  const routes = Router({ caseSensitive: true, strict: true });
  routes.use((_, response, next) => {
    response.set({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    next();
  });
  routes.get('/openapi.json', (_, response) => {
    // Built at the first request, so that the start of a router does not wait for it.
    document ??= Buffer.from(JSON.stringify(openApiDocument(operations)));
    response.type('application/json').send(document);
  });
  routes.use(apiPage());
  routes.use(requireAdminToken(parts), json({ limit: maxBodyBytes }));
  routes.use(mountOperations(operations, { pageSize: defaultPageSize, permit: requireScope }));
  routes.use(() => {
    throw new ApiFailure(404, 'not_found', 'There is no such operation. /api/admin/v1/openapi.json lists them all.');
  });
  routes.use(answerFailure(parts.log));
  return routes;
}
