import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** What a choice of a chunk adds. Some servers call it `message`, as in whole answers. */
export function deltaOf({ delta, message }: JsonObject): JsonObject | undefined {
  if (isJsonObject(delta)) return delta;
  return isJsonObject(message) ? message : undefined;
}
