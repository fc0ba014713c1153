import { Router } from 'express';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { RouterFacts } from '../contract/live.ts';
import type { LiveFeed } from '../live/live-feed.ts';
import type { Viewer } from '../live/visible-failures.ts';
import { ApiFailure } from './api-failure.ts';
import type { ApiParts } from './api-parts.ts';
import { signedInOf } from './session/signed-in.ts';

export interface LiveRoutesParts extends Pick<ApiParts, 'accounts'> {
  feed: LiveFeed;
  about: RouterFacts;
}

/**
 * While a page is open, its person's provider is asked at most once in this many milliseconds whether it still admits the person. It is
 * asked only after its last answer has expired.
 */
const askEveryMs = 60_000;

/** Creates the routes of the live feed of the console's pages, and of the facts about this router. */
export function liveRoutes(parts: LiveRoutesParts): Router {
  const { accounts, feed, about } = parts;
  const routes = Router({ caseSensitive: true, strict: true });
  routes.get('/live', (request, response) => {
    const { sessionId, user } = signedInOf(response);
    if (!feed.hasRoom(user.id)) {
      throw new ApiFailure(429, 'too_many_streams', 'Too many pages are open. Close some of them.', { retryAfter: 5 });
    }
    // `requireSession` has asked the provider at the start of this request.
    let askedAt = performance.now();
    const findCurrentViewer = async (): Promise<Viewer | undefined> => {
      const isDue = performance.now() - askedAt >= askEveryMs;
      if (isDue) askedAt = performance.now();
      const isOpen = await accounts.sessions.isOpen(sessionId, { asks: isDue });
      const currentUser = await accounts.users.find(user.id);
      return isOpen && currentUser ? viewerOf(currentUser) : undefined;
    };
    const takesChanges = request.query['changes'] !== undefined;
    feed.open({ response, viewer: viewerOf(user), takesChanges, currentViewer: findCurrentViewer });
  });
  routes.get('/about', (_, response) => {
    response.json(about);
  });
  return routes;
}

function viewerOf({ id, role }: UserRecord): Viewer {
  return { userId: id, isAdmin: role === 'admin' };
}
