import type { JsonObject } from '#shared/core/json.ts';

/** A mark of the messages format. Without a time that the client asks for, the upstream keeps what is marked for five minutes after each use. */
export function cacheMark(ttl: unknown): JsonObject {
  return { type: 'ephemeral', ...(typeof ttl === 'string' && { ttl: '1h' }) };
}
