import express, { Router, type Express, type NextFunction, type Request, type Response } from 'express';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import { chatModel, chatModelList } from '#shared/protocol/chat/models.ts';
import { chatFamily } from './chat-family.ts';
import type { EdgeFamily } from './edge-family.ts';
import { readHealth, type HealthParts } from './health.ts';
import { listModels } from './list-models.ts';
import { asRouterError, refuse } from './refuse.ts';
import { assignRequestId, requestIdOf } from './request-id.ts';
import { requireKey, type VerifyKey } from './require-key.ts';
import { serve, type ServeParts } from './serve.ts';

export interface AppParts extends ServeParts, HealthParts {
  log: Logger;
  verifyKey: VerifyKey;
  chatSegment: string;
  countRefusal: (family: string, error: RouterError) => void;
}

/** The route table of the ingress. */
export function createApp(parts: AppParts): Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(assignRequestId);
  app.get('/health', health(parts));
  app.use([`/api/${parts.chatSegment}/v1`, `/api/${parts.chatSegment}`], chatRoutes(parts));
  app.use(unknownPath, answerError(chatFamily, parts));
  return app;
}

function chatRoutes(parts: AppParts): Router {
  const { workers } = parts;
  const routes = Router();
  routes.get('/health', health(parts));
  routes.use(requireKey(parts.verifyKey));
  routes.post('/chat/completions', serve(chatFamily, parts));
  routes.get('/models', (_, response) => {
    response.json(chatModelList(listModels(workers.pools())));
  });
  routes.get('/models/*id', (request, response) => {
    response.json(chatModel(findModel(parts, request.params['id'])));
  });
  routes.all(['/chat/completions', '/models', '/models/*id', '/health'], wrongMethod);
  routes.use(answerError(chatFamily, parts));
  return routes;
}

function health(parts: HealthParts) {
  return async (_: Request, response: Response): Promise<void> => {
    const answer = await readHealth(parts);
    response.status(answer.status === 'draining' ? 503 : 200).json(answer);
  };
}

/** @param id the path behind `/models/`, in parts: ids may hold slashes, percent-encoded or not */
function findModel({ workers }: AppParts, id: string | string[] | undefined) {
  const name = Array.isArray(id) ? id.join('/') : (id ?? '');
  const card = listModels(workers.pools()).find((each) => each.id === name);
  if (!card) throw new RouterError('model_not_found', `The model '${name}' does not exist.`, { param: 'model' });
  return card;
}

function wrongMethod(request: Request): never {
  throw new RouterError('method_not_allowed', `${request.method} is not allowed here.`);
}

function unknownPath(request: Request): never {
  throw new RouterError('not_found', `There is no ${request.method} ${request.path} here.`);
}

/** The last handler of a family: whatever was thrown is answered in that family's format. */
function answerError(family: EdgeFamily, { log, countRefusal }: AppParts) {
  return (error: unknown, request: Request, response: Response, next: NextFunction): void => {
    const told = asRouterError(error);
    const requestId = requestIdOf(response);
    const { method, path } = request;
    if (told.code === 'internal')
      log.error({ err: told.cause, requestId, method, path }, 'request failed unexpectedly');
    else log.info({ requestId, method, path, code: told.code }, 'request refused');
    countRefusal(family.name, told);
    if (response.headersSent) next(error);
    else refuse(response, family, told, requestId);
  };
}
