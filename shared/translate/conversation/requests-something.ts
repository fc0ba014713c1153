import type { Json, JsonObject } from '#shared/core/json.ts';

/** Whether a field requests a feature: whether it is present and is not false, 0 or an empty array. */
export function requestsFeature(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === false || value === 0) return false;
  return !(Array.isArray(value) && value.length === 0);
}

export function readType(value: Json | undefined): string | undefined {
  const { type } = (value ?? {}) as JsonObject;
  return typeof type === 'string' ? type : undefined;
}
