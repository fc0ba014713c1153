import { json, Router, type RequestHandler } from 'express';
import { createFailureHandler } from './create-failure-handler.ts';
import { ApiFailure } from './api-failure.ts';
import type { ApiParts } from './api-parts.ts';
import { oidcRoutes, type OidcParts } from './oidc/oidc-routes.ts';
import { mountOperations } from './operations/mount-operations.ts';
import type { Operation } from './operations/operation.ts';
import { linkRoutes } from './session/link-routes.ts';
import { deletionRoutes } from './people/delete-person.ts';
import { profileRoutes } from './people/profile-routes.ts';
import { requireSecondFactor, createDemandCheck } from './second-factor/require-second-factor.ts';
import { secondFactorRoutes } from './second-factor/second-factor-routes.ts';
import { secondStepRoutes } from './second-factor/second-step-routes.ts';
import { sessionListRoutes } from './session/list-sign-in-sessions.ts';
import { sessionRoutes } from './session/session-routes.ts';
import { requireSameOrigin, requireSession } from './session/signed-in.ts';
import { refuseIfMatch } from './operations/if-match.ts';

const maxBodyBytes = 64 * 1024;

export interface ConsoleApiParts extends ApiParts {
  oidc: OidcParts;
  operations: readonly Operation[];
  /** Further routes, for signed-in people only. */
  signedInRoutes: readonly RequestHandler[];
}

/**
 * Creates the API of the console's pages, which is mounted at `/console/api`: the operations, the routes with which people sign in and
 * manage their own accounts, and `signedInRoutes`.
 */
export function createConsoleApi(parts: ConsoleApiParts): Router {
  const routes = Router({ caseSensitive: true, strict: true });
  routes.use((_, response, next) => {
    response.set({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    next();
  });
  const readBody = json({ limit: maxBodyBytes, inflate: false });
  // Operations with a larger limit read the body themselves, after the sender is identified: only signed-in people may send large bodies.
  const pathsWithLargeBodies = new Set(
    parts.operations.filter((each) => each.maxBodyBytes !== undefined).map(({ path }) => path),
  );
  routes.use(requireSameOrigin, (request, response, next) => {
    if (pathsWithLargeBodies.has(request.path)) next();
    else readBody(request, response, next);
  });
  routes.use(refuseIfMatch(parts.operations));
  routes.use(linkRoutes(parts), sessionRoutes(parts), oidcRoutes(parts), secondStepRoutes(parts));
  routes.use(requireSession(parts.accounts));
  const isDemanded = createDemandCheck(parts);
  routes.use(secondFactorRoutes({ ...parts, isDemanded }), sessionListRoutes(parts), requireSecondFactor(isDemanded));
  routes.use(profileRoutes(parts), deletionRoutes(parts));
  routes.use(mountOperations(parts.operations, { pageSize: Infinity }));
  for (const handler of parts.signedInRoutes) routes.use(handler);
  routes.use(() => {
    throw new ApiFailure(404, 'not_found', 'There is nothing here.');
  });
  routes.use(createFailureHandler(parts.log));
  return routes;
}
