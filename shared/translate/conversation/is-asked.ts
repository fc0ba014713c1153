import type { Json, JsonObject } from '#shared/core/json.ts';

/** Whether a field asks for something: it is set, and neither false, 0 nor an empty list. */
export function isAsked(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false || value === 0) return false;
  return !(Array.isArray(value) && value.length === 0);
}

/** The `type` of an object; undefined for a value without one. */
export function typeOf(value: Json | undefined): string | undefined {
  const { type } = (value ?? {}) as JsonObject;
  return typeof type === 'string' ? type : undefined;
}
