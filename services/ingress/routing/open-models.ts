import { Hedges } from '#shared/serving/hedging/hedges.ts';
import type { openResponses } from '../background/open-responses.ts';
import type { IngressContext } from '../context.ts';
import type { RequestParts } from '../http/request-parts.ts';
import type { HandleKeyed } from '../idempotency/handle-idempotently.ts';
import type { Recorder } from '../recording/recorder.ts';
import { createApiRoutes, listGenerateRoutes, type AddApiRoutes } from './api-routes.ts';
import type { ServeParts } from './serve-model-request.ts';

/** Opens the requests to models: the routes that generate answers, and those of the APIs. */
export function openModels(
  context: IngressContext,
  requests: RequestParts,
  { answers, storer, background }: ReturnType<typeof openResponses>,
  recorder: Recorder | undefined,
  handleKeyed: HandleKeyed,
  features: readonly AddApiRoutes[],
) {
  const { config, serving, storedOutages } = context;
  const { files, store, registry, ownerKeys } = serving;
  const hedges = new Hedges();
  const parts: ServeParts = {
    ...requests,
    registry: () => registry.current(),
    hedges,
    ownerKeys,
    answers,
    storer,
    background,
    inputFiles: {
      files: {
        find: (...args) => storedOutages.retry(() => files.find(...args)),
        read: (...args) => files.read(...args),
      },
      maxBytes: config.MAX_BODY_BYTES,
      store,
    },
    recorder,
  };
  return {
    hedges,
    generateRoutes: listGenerateRoutes(context, parts, handleKeyed),
    addRoutes: createApiRoutes(context, parts, handleKeyed, features),
  };
}
