import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** Returns the delta of a choice in a chunk. Some servers call the field `message`, as in whole answers. */
export function readDelta({ delta, message }: JsonObject): JsonObject | undefined {
  if (isJsonObject(delta)) return delta;
  return isJsonObject(message) ? message : undefined;
}
