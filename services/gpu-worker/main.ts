import { createJobHandler } from '#shared/worker/create-job-handler.ts';
import { readAnswerTimeouts } from '#shared/worker/worker-settings.ts';
import { runWorker } from '#shared/worker/run-worker.ts';
import { translations } from '#shared/translate/translations.ts';
import { gpuWorkerConfig, maxSlots } from './config.ts';
import { EngineHttp } from './engine-http.ts';
import { listClientFormats, findLackedFeatures } from './engine-routes.ts';
import { EngineUpstream } from './engine-upstream.ts';
import { findEngine } from './find-engine.ts';
import { EngineFollower, type EngineState } from './engine-follower.ts';
import { createImageFetcher } from './images/image-fetcher.ts';

/** Maximum milliseconds for a connection to the engine, which usually is on the same machine. */
const connectTimeoutMs = 2_000;

/** Number of slots for an engine that does not report how many requests it processes at once. */
const defaultSlots = 8;

await runWorker('gpu', gpuWorkerConfig, async ({ config, log, releases, admin, breaker, announce }) => {
  const http = new EngineHttp({
    url: config.ENGINE_URL,
    apiKey: config.ENGINE_API_KEY,
    connections: maxSlots,
    connectTimeoutMs,
    onOver: (call) => admin.metrics.countUpstreamRequest(call),
  });
  releases.add('engine connections', () => http.close());
  const searching = new AbortController();
  releases.add('search for the engine', () => searching.abort());
  const { engine, discovery } = await findEngine({ http, kind: config.ENGINE_KIND, log, signal: searching.signal });
  const onEngineState = ({ isHealthy }: EngineState): void => {
    breaker.setHealthy(isHealthy);
    announce();
  };
  const follower = new EngineFollower({ http, engine, log, discovery, onChange: onEngineState });
  releases.add('engine follower', () => follower.close());
  const lacks = findLackedFeatures(engine, translations);

  return {
    kind: engine.kind,
    formats: listClientFormats(translations),
    handler: createJobHandler(
      new EngineUpstream({
        http,
        engine,
        translations,
        models: () => follower.state.models,
        onUnreachable: () => follower.markUnreachable(),
        fetchImage: createImageFetcher(),
        timeouts: readAnswerTimeouts(config),
        allowedSteeringFields: config.ENGINE_FIELDS,
      }),
    ),
    facts: () => {
      const { slots } = follower.state;
      const models = follower.state.models.map((model) => ({ ...model, lacks: [...lacks, ...(model.lacks ?? [])] }));
      return { models, slots: Math.min(config.SLOTS || slots || defaultSlots, maxSlots), accepting: true };
    },
  };
});
