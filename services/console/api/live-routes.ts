import { Router, type Request, type RequestHandler, type Response } from 'express';
import type { Broker } from '#shared/broker/connect-broker.ts';
import type { LiveWorkers } from '#shared/broker/dispatch/live-workers.ts';
import type { Registry } from '#shared/registry/registry.ts';
import type { About, LiveWorkerFacts, ServedModel } from '../contract/live.ts';
import { drainWorker } from '../live/drain-worker.ts';
import type { LiveFeed } from '../live/live-feed.ts';
import { servedModels } from '../live/served-models.ts';
import { workerFacts } from '../live/worker-facts.ts';

/** Who is looking, as far as these routes need to know. */
export interface LiveViewer {
  isAdmin: boolean;
  /** The session by any name that is the same for all its requests. */
  session: string;
  stillSignedIn: () => Promise<boolean>;
}

export interface LiveRoutesParts {
  broker: Broker;
  workers: LiveWorkers;
  registry: () => Pick<Registry, 'models' | 'auto'>;
  feed: LiveFeed;
  about: About;
  /** Tells of a signed-in request; it has been let in before. */
  viewerOf: (response: Response) => LiveViewer;
  /** Writes down that somebody has drained or resumed a worker. */
  record: (response: Response, action: 'worker.drain' | 'worker.resume', worker: string) => Promise<void>;
}

/** What the pages need of the running cluster: `contract/live.ts`, below `/console/api`. Behind the sign-in. */
export function liveRoutes(parts: LiveRoutesParts): Router {
  const { workers, registry, feed, about, viewerOf } = parts;
  const routes = Router();
  routes.get('/live', (_, response) => {
    const { session, stillSignedIn } = viewerOf(response);
    if (feed.hasRoom(session)) feed.open({ response, session, stillSignedIn });
    else refuse(response, 429, 'too_many_streams', 'Too many pages are open: close some of them, or wait a little.');
  });
  routes.get('/models', (_, response) => {
    response.json(servedModels(workers.pools(), registry()) satisfies ServedModel[]);
  });
  routes.get('/about', (_, response) => {
    response.json(about);
  });
  routes.post('/workers/:id/drain', steer('drain', parts));
  routes.post('/workers/:id/resume', steer('resume', parts));
  return routes;
}

function steer(wish: 'drain' | 'resume', parts: LiveRoutesParts): RequestHandler<{ id: string }> {
  const { broker, workers, viewerOf, record } = parts;
  return async (request: Request<{ id: string }>, response: Response): Promise<void> => {
    const { id } = request.params;
    if (!viewerOf(response).isAdmin)
      return refuse(response, 403, 'permission_denied', 'Only administrators can drain and resume workers.');
    if (!workers.get(id)) return refuse(response, 404, 'not_found', `No worker ${id} is connected.`);
    const worker = await drainWorker(broker, workers, id, wish);
    if (!worker) {
      return refuse(response, 504, 'worker_silent', `The worker ${id} did not answer. Is it of an older version?`);
    }
    await record(response, `worker.${wish}`, id);
    response.json(workerFacts(worker, performance.now()) satisfies LiveWorkerFacts);
  };
}

function refuse(response: Response, status: number, code: string, message: string): void {
  response.status(status).json({ error: { code, message } });
}
