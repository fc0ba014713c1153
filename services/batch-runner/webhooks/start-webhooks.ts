import { isPublicAddress } from '#shared/public-fetch/is-public-address.ts';
import { createNetworkCheck } from '#shared/public-fetch/networks.ts';
import { createPublicPost } from '#shared/public-fetch/public-post.ts';
import type { Webhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import { createWebhookDeliverer } from './deliver-webhook.ts';
import { startRelayedWorker, type RelayContext } from '../start-relayed-worker.ts';
import { registerTryMetrics } from '../try-metrics.ts';

/** Milliseconds within which a receiver must answer. */
const answerMs = 10_000;

/**
 * Largest number of deliveries that one runner tries at a time. It is far more than one owner may have (see emit.lua), because a receiver
 * that does not answer occupies its place until the timeout.
 */
const concurrency = 256;

/**
 * Starts to send events to webhooks, together with all other runners.
 * @param networks networks, besides the public internet, to which webhooks may be sent
 */
export function startWebhooks(
  context: RelayContext,
  webhooks: Pick<Webhooks, 'endpoints' | 'deliveries'>,
  networks: readonly string[],
): void {
  const { endpoints, deliveries } = webhooks;
  const isInListedNetwork = createNetworkCheck(networks);
  const deliver = createWebhookDeliverer({
    endpoints,
    deliveries,
    post: createPublicPost({
      timeoutMs: answerMs,
      isAllowed: (address) => isPublicAddress(address) || isInListedNetwork(address),
    }),
    count: registerTryMetrics(context.metricsRegistry, 'webhooks', async () => (await deliveries.readLateMs()) / 1_000),
    log: context.log,
  });
  startRelayedWorker(context, {
    queue: 'webhooks',
    messageKind: 'webhooks',
    messages: deliveries,
    deliver,
    concurrency,
  });
}
