import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/** The usage of a messages stream so far: later counts are cumulative and replace earlier ones, unless they are null. */
export function overlayUsage(usage: JsonObject, update: Json | undefined): JsonObject {
  if (!isJsonObject(update)) return usage;
  return { ...usage, ...Object.fromEntries(Object.entries(update).filter(([, count]) => count !== null)) };
}
