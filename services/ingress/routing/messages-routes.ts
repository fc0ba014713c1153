import { Router, type ErrorRequestHandler, type RequestHandler, type Response } from 'express';
import { messagesModel, messagesModelPage } from '#shared/formats/messages/models.ts';
import { answerError, unknownPath, wrongMethod } from '../http/answer-error.ts';
import type { AppParts } from '../app.ts';
import { findModel, listModels } from './list-models.ts';
import { messagesFormat } from '#shared/formats/messages/messages-format.ts';
import { permitsOf } from '#shared/serving/key-permits.ts';
import { identityOf, requireKey } from '../http/require-key.ts';
import { serve } from './serve.ts';

/** Anthropic's clients may send their key in this header. */
const keyHeader = 'x-api-key';

/** `POST /v1/messages`, which the app leads here by itself. */
export function createMessage(parts: AppParts): [RequestHandler, RequestHandler, ErrorRequestHandler] {
  return [requireKey(parts, keyHeader), serve(messagesFormat, 'generate', parts), answerError(messagesFormat, parts)];
}

/** Anthropic's messages format but for `createMessage`, which comes first: mounted at `/api/<segment>`. */
export function messagesRoutes(parts: AppParts): Router {
  const cards = (response: Response) =>
    listModels([...parts.workers.pools()], parts.registry(), permitsOf(identityOf(response)));
  const routes = Router();
  // Claude Code asks this, without a key, whether anybody is there. Express answers HEAD by the GET route.
  routes.get('/api/hello', (_, response) => {
    response.json({ message: 'hello' });
  });
  routes.use(requireKey(parts, keyHeader));
  routes.post('/v1/messages/count_tokens', serve(messagesFormat, 'count_tokens', parts));
  routes.get('/v1/models', (request, response) => {
    response.json(messagesModelPage(cards(response), request.query));
  });
  routes.get('/v1/models/*id', (request, response) => {
    response.json(messagesModel(findModel(cards(response), request.params['id'])));
  });
  routes.all(['/v1/messages', '/v1/messages/count_tokens'], wrongMethod('POST'));
  routes.all(['/v1/models', '/v1/models/*id', '/api/hello'], wrongMethod('GET', 'HEAD'));
  routes.use(unknownPath, answerError(messagesFormat, parts));
  return routes;
}
