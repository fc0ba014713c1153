import { Router } from 'express';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { RouterFacts } from '../contract/live.ts';
import type { LiveFeed } from '../live/live-feed.ts';
import type { Viewer } from '../live/visible-failures.ts';
import { ApiFailure } from './api-failure.ts';
import type { ApiParts } from './api-parts.ts';
import { getSignedIn } from './session/signed-in.ts';

export interface LiveRoutesParts extends Pick<ApiParts, 'accounts'> {
  feed: LiveFeed;
  routerFacts: RouterFacts;
}

/**
 * Milliseconds between two checks whether the person of an open page may still sign in. A check asks the person's provider only if the
 * provider's last answer has expired.
 */
const checkEveryMs = 60_000;

/** Creates the routes of the live feed of the console's pages, and of the facts about this router. */
export function liveRoutes(parts: LiveRoutesParts): Router {
  const { accounts, feed, routerFacts } = parts;
  const routes = Router({ caseSensitive: true, strict: true });
  routes.get('/live', (request, response) => {
    const { sessionId, user } = getSignedIn(response);
    if (!feed.hasRoom(user.id)) {
      throw new ApiFailure(429, 'too_many_streams', 'Too many pages are open. Close some of them.', { retryAfter: 5 });
    }
    // `requireSession` has made the first check at the start of this request.
    let checkedAt = performance.now();
    const findCurrentViewer = async (): Promise<Viewer | undefined> => {
      const isDue = performance.now() - checkedAt >= checkEveryMs;
      if (isDue) checkedAt = performance.now();
      const isOpen = await accounts.sessions.isOpen(sessionId, { asks: isDue });
      const currentUser = await accounts.users.find(user.id);
      return isOpen && currentUser ? toViewer(currentUser) : undefined;
    };
    const takesChanges = request.query['changes'] !== undefined;
    feed.open({ response, viewer: toViewer(user), takesChanges, findCurrentViewer });
  });
  routes.get('/about', (_, response) => {
    response.json(routerFacts);
  });
  return routes;
}

function toViewer({ id, role }: UserRecord): Viewer {
  return { userId: id, isAdmin: role === 'admin' };
}
