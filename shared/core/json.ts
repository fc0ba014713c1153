/** Any JSON value. */
export type Json = string | number | boolean | null | Json[] | JsonObject;

/** A JSON object with unchecked fields. */
export interface JsonObject {
  [field: string]: Json | undefined;
}

/** Whether a parsed JSON value is an object, neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
