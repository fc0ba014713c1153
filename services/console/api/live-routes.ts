import { Router, type RequestHandler } from 'express';
import type { Broker } from '#shared/broker/connection/connect-broker.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import type { Registry } from '#shared/registry/registry.ts';
import type { About, LiveWorkerFacts, ServedModel } from '../contract/live.ts';
import { drainWorker } from '../live/drain-worker.ts';
import type { LiveFeed } from '../live/live-feed.ts';
import { servedModels } from '../live/served-models.ts';
import type { Viewer } from '../live/visible-failures.ts';
import { workerFacts } from '../live/worker-facts.ts';
import { requireAccess } from './access.ts';
import { ApiFailure } from './api-failure.ts';
import { record, type ApiParts } from './api-parts.ts';
import { signedInOf } from './session/signed-in.ts';

export interface LiveRoutesParts extends Pick<ApiParts, 'accounts' | 'log'> {
  broker: Broker;
  workers: LiveWorkers;
  registry: () => Pick<Registry, 'models' | 'auto'>;
  feed: LiveFeed;
  about: About;
}

/** The routes of `contract/live.ts`, for signed-in people. */
export function liveRoutes(parts: LiveRoutesParts): Router {
  const { accounts, workers, registry, feed, about } = parts;
  const routes = Router();
  routes.get('/live', (_, response) => {
    const { sessionId, user } = signedInOf(response);
    if (!feed.hasRoom(sessionId)) {
      throw new ApiFailure(429, 'too_many_streams', 'Too many pages are open. Close some of them.', { retryAfter: 5 });
    }
    const currentViewer = async (): Promise<Viewer | undefined> => {
      const [stands, now] = await Promise.all([accounts.sessions.stands(sessionId), accounts.users.find(user.id)]);
      return stands && now ? viewerOf(now) : undefined;
    };
    feed.open({ response, session: sessionId, viewer: viewerOf(user), currentViewer });
  });
  routes.get('/models', (_, response) => {
    response.json(servedModels(workers.pools(), registry()) satisfies ServedModel[]);
  });
  routes.get('/about', (_, response) => {
    response.json(about);
  });
  routes.post('/workers/:id/drain', steer('drain', parts));
  routes.post('/workers/:id/undrain', steer('undrain', parts));
  return routes;
}

function viewerOf({ id, role }: UserRecord): Viewer {
  return { userId: id, isAdmin: role === 'admin' };
}

function steer(command: 'drain' | 'undrain', parts: LiveRoutesParts): RequestHandler<{ id: string }> {
  const { broker, workers } = parts;
  return async ({ params: { id } }, response): Promise<void> => {
    const person = signedInOf(response);
    requireAccess('worker.steer', person);
    if (!workers.get(id)) throw new ApiFailure(404, 'not_found', `No worker ${id} is connected.`);
    const worker = await drainWorker(broker, workers, id, command);
    if (!worker) {
      throw new ApiFailure(504, 'worker_silent', `The worker ${id} did not answer in time.`);
    }
    await record(parts, person, {
      action: `worker.${command}`,
      target: { kind: 'worker', id, name: id },
      details: {},
    });
    response.json(workerFacts(worker, performance.now()) satisfies LiveWorkerFacts);
  };
}
