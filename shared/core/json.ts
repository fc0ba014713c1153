export type Json = string | number | boolean | null | Json[] | JsonObject;

export interface JsonObject {
  [field: string]: Json | undefined;
}

/** Whether a parsed JSON value is an object, neither null nor an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the field `type` of an object; undefined for any other value, and unless the field is a text. */
export function readType(value: unknown): string | undefined {
  const type = isJsonObject(value) ? value['type'] : undefined;
  return typeof type === 'string' ? type : undefined;
}

export function toObjectOrEmpty(value: Json | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

export function toTextOrEmpty(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** Parses a JSON text. Returns undefined for a text that is not JSON. */
export function parseIfJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/**
 * Maximum levels of nested arrays and objects in a JSON value. No request needs nearly as many. The limit protects the stack of
 * `JSON.stringify`, which recurses for each level, while `JSON.parse` does not.
 */
export const maxLevels = 500;

/** Whether a JSON value is nested too deeply to be written again. */
export function nestsTooDeeply(value: Json | undefined, levels = maxLevels): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Array.isArray(value) ? value : Object.values(value)) {
    if (nestsTooDeeply(inner, levels - 1)) return true;
  }
  return false;
}
