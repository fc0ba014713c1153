import { json, Router } from 'express';
import { createFailureHandler } from './create-failure-handler.ts';
import { ApiFailure } from './api-failure.ts';
import type { ApiParts } from './api-parts.ts';
import { createApiPage } from './operations/api-page.ts';
import { mountOperations } from './operations/mount-operations.ts';
import { createOpenApiDocument } from './operations/openapi-document.ts';
import type { Operation } from './operations/operation.ts';
import { defaultPageSize } from './operations/page.ts';
import { requireAdminToken, requireScope, type AdminTokenParts } from './tokens/require-admin-token.ts';

const maxBodyBytes = 1024 * 1024;

/**
 * Creates the routes of the Admin API, which are mounted at `/api/admin/v1`. They serve the console's operations to programs with an admin
 * token. The OpenAPI document of these operations needs no token.
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
    // The document is built at the first request for it, because building it would delay the start of the process.
    document ??= Buffer.from(JSON.stringify(createOpenApiDocument(operations)));
    response.type('application/json').send(document);
  });
  routes.use(createApiPage());
  routes.use(requireAdminToken(parts), json({ limit: maxBodyBytes }));
  routes.use(mountOperations(operations, { pageSize: defaultPageSize, permit: requireScope }));
  routes.use(() => {
    throw new ApiFailure(404, 'not_found', 'There is no such operation. /api/admin/v1/openapi.json lists them all.');
  });
  routes.use(createFailureHandler(parts.log));
  return routes;
}
