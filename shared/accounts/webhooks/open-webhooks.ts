import type { Redis } from 'ioredis';
import { warnUnreadable, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { WebhookDeliveries } from './webhook-deliveries.ts';
import { WebhookEndpoints, type WebhookKeys } from './webhook-endpoints.ts';
import { WebhookOutbox } from './webhook-outbox.ts';

export interface Webhooks {
  endpoints: WebhookEndpoints;
  outbox: WebhookOutbox;
  deliveries: WebhookDeliveries;
}

/**
 * Opens the stores of webhooks.
 * @param prefix start of all names in Redis
 * @param keys makes the sealers for the secrets of endpoints
 * @param report is called with every record that cannot be read
 */
export function openWebhooks(
  redis: Redis,
  prefix: string,
  { keys, report = warnUnreadable }: { keys: WebhookKeys; report?: ReportUnreadable },
): Webhooks {
  return {
    endpoints: new WebhookEndpoints(redis, prefix, { keys, report }),
    outbox: new WebhookOutbox(redis, prefix),
    deliveries: new WebhookDeliveries(redis, prefix, report),
  };
}
