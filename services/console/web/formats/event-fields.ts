import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/** Returns a field of an event as text; empty for any other type. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Returns a field of an event as an object; empty for any other type. */
export function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
