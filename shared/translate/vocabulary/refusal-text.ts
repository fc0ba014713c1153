import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** Why a messages upstream refused, where it says so: the chat format's `refusal`. */
export function refusalText(message: JsonObject): string | undefined {
  const { stop_reason: reason, stop_details: details } = message;
  if (reason !== 'refusal' || !isJsonObject(details)) return undefined;
  return typeof details['explanation'] === 'string' ? details['explanation'] : undefined;
}
