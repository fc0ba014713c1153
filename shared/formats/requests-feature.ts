import { isJsonObject, type Json } from '#shared/core/json.ts';

/** Whether a field requests something. A field that is absent, null, false, 0 or empty does not. */
export function requestsFeature(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length > 0;
  return (
    isJsonObject(value) || (value !== undefined && value !== null && value !== false && value !== 0 && value !== '')
  );
}
