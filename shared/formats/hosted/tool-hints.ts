import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

const placeFields = ['city', 'country', 'region', 'timezone'];

/**
 * Returns the fields of a search or fetch tool that the served tool may accept as input. Their names are `allowed_domains` and
 * `blocked_domains`, and for the user's place `user_location`, `city`, `country`, `region` and `timezone`.
 */
export function pickToolHints(tool: JsonObject): JsonObject {
  const { allowed_domains: allowed, blocked_domains: blocked, user_location: location } = tool;
  const place = isJsonObject(location) ? location : {};
  return {
    ...(hasEntries(allowed) && { allowed_domains: allowed }),
    ...(hasEntries(blocked) && { blocked_domains: blocked }),
    ...(isJsonObject(location) && { user_location: location }),
    ...Object.fromEntries(
      placeFields.flatMap((field) => (typeof place[field] === 'string' ? [[field, place[field]]] : [])),
    ),
  };
}

function hasEntries(list: Json | undefined): list is Json[] {
  return Array.isArray(list) && list.length > 0;
}
