import type { Registry } from 'prom-client';
import type { BackgroundAccess } from '#shared/background/background-access.ts';
import type { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { BackgroundWorker, type QueueWorker } from '#shared/background/background-worker.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Releases } from '#shared/core/release.ts';
import { isPublicAddress } from '#shared/public-fetch/is-public-address.ts';
import { createNetworkCheck } from '#shared/public-fetch/networks.ts';
import { createPublicPost } from '#shared/public-fetch/public-post.ts';
import type { Webhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import type { DueDelivery } from '#shared/accounts/webhooks/webhook-deliveries.ts';
import { createWebhookDeliverer } from './deliver-webhook.ts';
import { relayDue } from '../relay-due.ts';
import { registerWebhookMetrics } from './webhook-metrics.ts';

/** Milliseconds within which a receiver must answer. */
const answerMs = 10_000;

/** When the runner ends, running deliveries get this many milliseconds to finish. Unfinished ones are returned to the queue. */
const finishMs = 5_000;

/**
 * Largest number of deliveries that one runner tries at a time. It is far more than one owner may have (see emit.lua), because a receiver
 * that does not answer occupies its place until the timeout.
 */
const concurrency = 256;

export interface StartWebhooksParts {
  webhooks: Pick<Webhooks, 'endpoints' | 'deliveries'>;
  access: BackgroundAccess;
  jobs: Pick<BackgroundJobs, 'add'>;
  /** Networks, besides the public internet, to which webhooks may be sent. */
  networks: readonly string[];
  registry: Registry;
  log: Logger;
  releases: Releases;
}

/**
 * Starts to send events to webhooks, together with all other runners.
 * @returns the worker of the queue, which the caller closes together with the workers of other queues
 */
export function startWebhooks({
  webhooks,
  access,
  jobs,
  networks,
  registry,
  log,
  releases,
}: StartWebhooksParts): QueueWorker {
  const { endpoints, deliveries } = webhooks;
  const [stopRelay, stopDeliveries] = [new AbortController(), new AbortController()];
  const isInListedNetwork = createNetworkCheck(networks);
  const deliver = createWebhookDeliverer({
    endpoints,
    deliveries,
    post: createPublicPost({
      timeoutMs: answerMs,
      isAllowed: (address) => isPublicAddress(address) || isInListedNetwork(address),
    }),
    count: registerWebhookMetrics(registry, () => deliveries.readLateMs()),
    log,
  });
  const takeDue = deliveries.takeDue.bind(deliveries);
  const enqueue = (due: DueDelivery): Promise<void> =>
    jobs.add({ queue: 'webhooks', id: `${due.id}-${due.attempts}`, data: due });
  const relaying = relayDue({ messageKind: 'webhooks', takeDue, enqueue, log }, stopRelay.signal);
  releases.add('webhooks', async () => {
    stopRelay.abort();
    await relaying;
    setTimeout(() => stopDeliveries.abort(), finishMs).unref();
  });
  return new BackgroundWorker<DueDelivery>({
    access,
    queue: 'webhooks',
    concurrency,
    handle: (due) => deliver(due, stopDeliveries.signal),
  });
}
