import { isJsonObject, type Json } from '#shared/core/json.ts';

/**
 * Returns a value without these fields, at any depth. A list of one text without further fields becomes that text, as translations write
 * it.
 */
export function withoutFields(value: Json | undefined, fields: readonly string[]): Json | undefined {
  if (Array.isArray(value)) {
    const [only, ...more] = value.map((each) => withoutFields(each, fields) ?? null);
    const isText = more.length === 0 && isJsonObject(only) && only['type'] === 'text';
    return isText ? only['text'] : only === undefined ? [] : [only, ...more];
  }
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([field]) => !fields.includes(field));
  return Object.fromEntries(kept.map(([field, inner]) => [field, withoutFields(inner, fields)]));
}
