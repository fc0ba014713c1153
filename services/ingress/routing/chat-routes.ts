import { Router, type ErrorRequestHandler, type RequestHandler, type Response } from 'express';
import { chatModel, chatModelList } from '#shared/formats/chat/models.ts';
import { answerError, wrongMethod } from '../http/answer-error.ts';
import type { AppParts } from '../app.ts';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { answerHealth } from '../http/health.ts';
import { findModel, listModels } from './list-models.ts';
import { permitsOf } from '#shared/serving/key-permits.ts';
import { identityOf, requireKey } from '../http/require-key.ts';
import { serve } from './serve.ts';

/** `POST /chat/completions`, which the app leads here by itself. */
export function chatCompletions(parts: AppParts): [RequestHandler, RequestHandler, ErrorRequestHandler] {
  return [requireKey(parts), serve(chatFormat, 'generate', parts), answerError(chatFormat, parts)];
}

/** OpenAI's chat format but for `chatCompletions`, which comes first: mounted at `/api/<segment>` and `/api/<segment>/v1`. */
export function chatRoutes(parts: AppParts): Router {
  const cards = (response: Response) =>
    listModels([...parts.workers.pools()], parts.registry(), permitsOf(identityOf(response)));
  const routes = Router();
  routes.get('/health', answerHealth(parts));
  routes.use(requireKey(parts));
  routes.get('/models', (_, response) => {
    response.json(chatModelList(cards(response)));
  });
  routes.get('/models/*id', (request, response) => {
    response.json(chatModel(findModel(cards(response), request.params['id'])));
  });
  routes.all('/chat/completions', wrongMethod('POST'));
  routes.all(['/models', '/models/*id', '/health'], wrongMethod('GET', 'HEAD'));
  routes.use(answerError(chatFormat, parts));
  return routes;
}
