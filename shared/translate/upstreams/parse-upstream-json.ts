import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/** Parses an upstream's text; undefined if it is not JSON. */
export function parseUpstreamJson(text: string, parse: (text: string) => unknown = JSON.parse): Json | undefined {
  try {
    return parse(text) as Json;
  } catch {
    return undefined;
  }
}

/**
 * Parses one event of an upstream's stream.
 * @throws RouterError `upstream_failed` if the event is not a JSON object
 */
export function parseUpstreamEvent(data: string): JsonObject {
  const event = parseUpstreamJson(data);
  if (isJsonObject(event)) return event;
  throw new RouterError('upstream_failed', 'The upstream sent an event that cannot be read.');
}
