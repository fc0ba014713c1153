/** Any value that JSON can express. */
export type Json = string | number | boolean | null | Json[] | JsonObject;

/** A JSON object whose fields nobody has looked at yet. */
export interface JsonObject {
  [field: string]: Json | undefined;
}

/** Whether a parsed JSON value is an object (not null, not an array). */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
