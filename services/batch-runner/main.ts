import { openWebhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import { registerDependencyGauges } from '#shared/core/metrics/service-registry.ts';
import { runService } from '#shared/core/run-service.ts';
import { version } from '#shared/core/version.ts';
import { registerFileMetrics } from '#shared/files/watch-files.ts';
import { startBatches } from './batches/start-batches.ts';
import { openContext } from './context.ts';
import { startMails } from './mail/start-mails.ts';
import { startResponses } from './responses/start-responses.ts';
import { registerRunnerGauges } from './runner-metrics.ts';
import { startScheduled } from './scheduled/start-scheduled.ts';
import { createServingParts } from './serving-parts.ts';
import { startWebhooks } from './webhooks/start-webhooks.ts';

// What is started last here is released first.
await runService(async (environment, releases) => {
  const context = await openContext(environment, releases);
  const { id, config, prefix, metricsRegistry, serving, jobs, queues, log } = context;
  const { redis, broker, writes, files, ownerKeys, reportUnreadable } = serving;
  const servingParts = createServingParts(context);
  const stopping = new AbortController();
  const { batches, slots } = startBatches(context, servingParts, stopping.signal);
  releases.add('background work', async () => {
    stopping.abort();
    await Promise.all(Array.from(queues.values(), (worker) => worker.close()));
  });
  const webhooks = openWebhooks(redis.redis, prefix, { keys: ownerKeys, report: reportUnreadable });
  startWebhooks(context, webhooks, config.WEBHOOK_NETWORKS);
  startMails(context);
  startResponses(context, servingParts);
  startScheduled(context, batches, webhooks);
  registerDependencyGauges(metricsRegistry, {
    nats: () => broker.measureRoundTripMs(),
    redis: () => writes.measureRoundTripMs(),
  });
  registerFileMetrics(metricsRegistry, files);
  registerRunnerGauges(metricsRegistry, { jobs, batches, slots, workers: queues });
  context.reportReady();
  log.info({ id, version }, 'batch-runner is ready');
});
