import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/** A field of an event that is read as a text; empty when it is none. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** A field of an event that is read as an object; empty when it is none. */
export function objectOf(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
