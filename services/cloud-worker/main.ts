import { createJobHandler } from '#shared/worker/create-job-handler.ts';
import { readAnswerTimeouts } from '#shared/worker/worker-settings.ts';
import { runWorker } from '#shared/worker/run-worker.ts';
import { ConfigError } from '#shared/core/load-config.ts';
import { translations } from '#shared/translate/translations.ts';
import { cloudWorkerConfig } from './config.ts';
import { connectProvider } from './providers/connect-provider.ts';
import { ModelFollower } from './model-follower.ts';
import { LimitedSlots } from './limited-slots.ts';
import { deriveOrigin } from './providers/find-providers.ts';
import { findProvider } from './providers/presets.ts';
import { listClientFormats, createLackFinder } from './providers/provider-routes.ts';
import { ProviderUpstream } from './provider-upstream.ts';
import { readRateLimits } from './rate-limits.ts';
import { describeNamedModels, readModels } from './read-models.ts';
import { createRefusalReport } from './report-refusal.ts';

/** Approximate milliseconds between two reads of the provider's list of models. */
const modelsRefreshMs = 600_000;

await runWorker('cloud', cloudWorkerConfig, async (context) => {
  const { config, environment, releases, admin, announce } = context;
  const log = context.log.child({ provider: config.PROVIDER });
  const provider = findProvider(config.PROVIDER, config.PROVIDER_FORMAT);
  const http = connectProvider(provider, config, environment, (call) => admin.metrics.countUpstreamRequest(call));
  releases.add('provider connections', () => http.close());
  const modelNames =
    config.PROVIDER_MODELS.length > 0 ? config.PROVIDER_MODELS : (provider.fixedModels?.(environment) ?? []);
  if (modelNames.length === 0 && !provider.list) {
    throw new ConfigError(`Nothing lists the models of ${provider.title}: name them in PROVIDER_MODELS.`);
  }

  const limitedSlots = new LimitedSlots(config.SLOTS, (allowance) => {
    log.info(allowance, allowance.accepting ? 'the allowance has changed' : 'the worker takes no jobs for now');
    announce();
  });
  releases.add('limited slots', () => limitedSlots.close());
  const reportRefusal = createRefusalReport(provider, log);
  const modelSource = { provider, http, names: modelNames, onStatus: reportRefusal };
  const follower = new ModelFollower(
    { read: () => readModels(modelSource), log, everyMs: modelsRefreshMs, onChange: announce },
    describeNamedModels(modelSource, []),
  );
  releases.add('model follower', () => follower.close());
  const findLacks = createLackFinder(provider, translations);

  return {
    kind: config.PROVIDER,
    formats: listClientFormats(provider, translations),
    handler: createJobHandler(
      new ProviderUpstream({
        http,
        provider,
        translations,
        traceName: provider.traceName ?? config.PROVIDER,
        models: () => follower.models,
        timeouts: readAnswerTimeouts(config),
        origin: deriveOrigin(provider, config, environment),
        takesPrompts: config.PROVIDER_PROMPTS,
        passedTiers: config.PROVIDER_SERVICE_TIERS,
        onHead: (status, headers) => {
          reportRefusal(status);
          limitedSlots.applyLimits(readRateLimits(headers, Date.now()));
        },
      }),
    ),
    facts: () => {
      const { slots, accepting, resumesAt } = limitedSlots.allowance;
      const models = follower.models.map((model) => ({ ...model, lacks: findLacks(model.id) }));
      if (models.length === 0) return { models, slots, accepting: false, reason: 'no_models' };
      const reason = slots < config.SLOTS || !accepting ? 'limited' : undefined;
      return { models, slots, accepting, reason, resumesAt };
    },
  };
});
