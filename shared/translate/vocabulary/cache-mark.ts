import type { JsonObject } from '#shared/core/json.ts';

/**
 * Returns a cache mark of the `messages` format. If the client sets no lifetime, the upstream keeps marked content for five minutes after
 * each use.
 */
export function createCacheMark(ttl: unknown): JsonObject {
  return { type: 'ephemeral', ...(typeof ttl === 'string' && { ttl: '1h' }) };
}
