import type { Redis } from 'ioredis';
import { callRedis } from '#shared/store/redis/call-redis.ts';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import type { WebhookOwner } from './webhook-event.ts';

const removeEndpoint = new RedisScript(
  new URL('lua/emit.lua', import.meta.url),
  new URL('lua/remove-endpoint.lua', import.meta.url),
);

/**
 * Removes a webhook with all its deliveries. Returns false if there is no such webhook.
 * @param prefix start of all names in Redis
 * @throws RouterError `store_unavailable`
 */
export async function removeWebhook(redis: Redis, prefix: string, id: string): Promise<boolean> {
  return (await removeEndpoint.run(redis, { args: { prefix, id } })) === 1;
}

/**
 * Removes the webhooks of an owner that no longer exists.
 * @throws RouterError `store_unavailable`
 */
export async function removeWebhooksOfOwner(redis: Redis, prefix: string, owner: WebhookOwner): Promise<void> {
  for (const id of await callRedis(redis.zrange(`${prefix}webhooks-of:${owner}`, '0', '-1')))
    await removeWebhook(redis, prefix, id);
}
