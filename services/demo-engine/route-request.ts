import type { IncomingMessage, ServerResponse } from 'node:http';
import { RouterError } from '#shared/core/errors.ts';
import { version } from '#shared/core/version.ts';
import { engineName, type Engine } from './engine.ts';
import { handleChatCompletion } from './handle-chat-completion.ts';
import { handleCompletion } from './handle-completion.ts';
import { handleTokenize } from './handle-tokenize.ts';
import { createTranscriptionHandler, handleImageEdits, handleImages, handleSpeech } from './media/media-endpoints.ts';
import { sendError, sendJson } from './reply/send-json.ts';
import { handleEmbeddings, handleModerations, handleRerank } from './vectors/vector-endpoints.ts';

type Handle = (engine: Engine, request: IncomingMessage, response: ServerResponse, signal: AbortSignal) => unknown;

const routes: Record<string, { method: 'GET' | 'POST'; handle: Handle }> = {
  '/health': { method: 'GET', handle: (_engine, _request, response) => sendJson(response, 200, { status: 'ok' }) },
  '/version': {
    method: 'GET',
    handle: ({ slots }, _request, response) =>
      sendJson(response, 200, { version, engine: engineName, slots: slots.total }),
  },
  '/v1/models': {
    method: 'GET',
    handle: (engine, _request, response) => sendJson(response, 200, listModels(engine)),
  },
  '/v1/chat/completions': { method: 'POST', handle: handleChatCompletion },
  '/v1/completions': { method: 'POST', handle: handleCompletion },
  '/v1/embeddings': { method: 'POST', handle: handleEmbeddings },
  '/v1/rerank': { method: 'POST', handle: handleRerank },
  '/v1/moderations': { method: 'POST', handle: handleModerations },
  '/v1/images/generations': { method: 'POST', handle: handleImages },
  '/v1/images/edits': { method: 'POST', handle: handleImageEdits },
  '/v1/audio/speech': { method: 'POST', handle: handleSpeech },
  '/v1/audio/transcriptions': { method: 'POST', handle: createTranscriptionHandler('transcribe') },
  '/v1/audio/translations': { method: 'POST', handle: createTranscriptionHandler('translate') },
  '/tokenize': { method: 'POST', handle: handleTokenize },
  '/demo/state': {
    method: 'GET',
    handle: ({ slots, state }, _request, response) =>
      sendJson(response, 200, { ...state.snapshot(), waiting: slots.waitingCount }),
  },
};

/** Answers one HTTP request. Never rejects, because a failure becomes an error answer. Stops when the client disconnects. */
export async function routeRequest(
  engine: Engine,
  request: IncomingMessage,
  response: ServerResponse,
  onError: (error: unknown) => void,
): Promise<void> {
  const disconnected = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) disconnected.abort();
  });
  try {
    const path = request.url?.split('?', 1)[0] ?? '';
    const route = Object.hasOwn(routes, path) ? routes[path] : undefined;
    if (!route) throw new RouterError('not_found', `Unknown path: ${request.method} ${path}`);
    if (route.method !== request.method) {
      response.setHeader('allow', route.method);
      throw new RouterError('method_not_allowed', `${path} takes ${route.method} only.`);
    }
    await route.handle(engine, request, response, disconnected.signal);
  } catch (error) {
    if (disconnected.signal.aborted) return;
    if (!(error instanceof RouterError)) onError(error);
    sendError(response, error);
  }
}

function listModels({ models, contextWindow, startedAt }: Engine) {
  return {
    object: 'list',
    data: models.map((id) => ({
      id,
      object: 'model',
      created: startedAt,
      owned_by: engineName,
      root: id,
      parent: null,
      max_model_len: contextWindow,
    })),
  };
}
