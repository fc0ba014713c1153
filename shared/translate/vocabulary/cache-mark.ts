import type { JsonObject } from '#shared/core/json.ts';

/**
 * Creates a cache mark of the `messages` format. Any lifetime that the client sets becomes one hour. Without one, the upstream keeps marked
 * content for five minutes after each use.
 */
export function createCacheMark(ttl: unknown): JsonObject {
  return { type: 'ephemeral', ...(typeof ttl === 'string' && { ttl: '1h' }) };
}
