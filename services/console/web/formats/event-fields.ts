import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/** Returns the value of an event's field if it is a text, and an empty text otherwise. */
export function readText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Returns the value of an event's field if it is an object, and an empty object otherwise. */
export function readObject(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}
