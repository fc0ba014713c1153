import type { RunningDelivery } from '#shared/accounts/webhooks/webhook-deliveries.ts';
import { UnreadableRecordError } from '#shared/store/redis/stored-records.ts';
import { version } from '#shared/core/version.ts';
import { PublicFetchError } from '#shared/public-fetch/guarded-agent.ts';
import type { PublicPost } from '#shared/public-fetch/public-post.ts';
import type { WebhookEndpoint } from '#shared/accounts/webhooks/webhook-endpoint.ts';
import type { WebhookEndpoints } from '#shared/accounts/webhooks/webhook-endpoints.ts';
import { signWebhook } from '#shared/accounts/webhooks/webhook-signature.ts';
import { createDeliverer, type DeliverDue, type DelivererOptions, type TryResult } from '../deliver-due.ts';

export interface WebhookDelivererParts extends Pick<DelivererOptions<RunningDelivery>, 'count' | 'log'> {
  endpoints: Pick<WebhookEndpoints, 'find' | 'unsealSigningSecrets'>;
  deliveries: DelivererOptions<RunningDelivery>['messages'];
  post: PublicPost;
}

/** Status with which an endpoint declines further events. */
const goneStatus = 410;

/**
 * Creates the function that tries deliveries. A 2xx answer ends a delivery. 410 gives the delivery up and disables its endpoint. After any
 * other outcome, the delivery is tried again. A delivery that arrives twice has the same `webhook-id`.
 */
export function createWebhookDeliverer({ endpoints, deliveries, post, ...options }: WebhookDelivererParts): DeliverDue {
  return createDeliverer({
    ...options,
    messages: deliveries,
    noun: 'a webhook',
    send: async (delivery, signal) => {
      const result = await sendOnce(delivery, signal);
      return delivery.once ? { ...result, isPermanent: true } : result;
    },
  });

  async function sendOnce(delivery: RunningDelivery, signal: AbortSignal): Promise<TryResult> {
    try {
      const endpoint = await endpoints.find(delivery.endpoint);
      if (!endpoint) return { error: 'its endpoint was removed' };
      const secrets = endpoints.unsealSigningSecrets(endpoint);
      if (!secrets) return { error: 'its secret was sealed with a SEAL_SECRET that the runner does not have' };
      return toResult(await send(delivery, endpoint, secrets, signal));
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof PublicFetchError) return { error: error.message };
      if (error instanceof UnreadableRecordError) return { error: 'its endpoint cannot be read by this release' };
      throw error;
    }
  }

  function send(
    { id, body }: RunningDelivery,
    { url }: WebhookEndpoint,
    secrets: readonly string[],
    signal: AbortSignal,
  ): Promise<number> {
    const timestamp = Math.floor(Date.now() / 1_000);
    const headers = {
      'content-type': 'application/json',
      'user-agent': `model-router/${version}`,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signWebhook({ id, timestamp, body }, secrets),
    };
    return post(new URL(url), { headers, body }, signal);
  }
}

function toResult(status: number): TryResult {
  if (status >= 200 && status < 300) return { status };
  const error = describeStatus(status);
  return status === goneStatus ? { status, error, isPermanent: true, disables: error } : { status, error };
}

function describeStatus(status: number): string {
  if (status === goneStatus) return 'it answered 410: it wants no further events';
  if (status >= 300 && status < 400) return `it answered with a redirect (${status}), which is not followed`;
  return `it answered ${status}`;
}
