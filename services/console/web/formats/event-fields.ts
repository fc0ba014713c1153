import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/** Returns a field of an event that is a text; an empty text if it is none. */
export function readText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Returns a field of an event that is an object; an empty object if it is none. */
export function readObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
