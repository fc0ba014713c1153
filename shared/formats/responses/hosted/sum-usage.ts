import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

/** Adds two usages of the Responses format field by field. Returns one of them unchanged if the other is missing. */
export function sumUsage(sum: JsonObject | undefined, usage: Json | undefined): JsonObject | undefined {
  if (!isJsonObject(usage)) return sum;
  if (!sum) return usage;
  const fields = [...new Set([...Object.keys(sum), ...Object.keys(usage)])];
  return Object.fromEntries(fields.map((field) => [field, addValues(sum[field], usage[field])]));
}

function addValues(a: Json | undefined, b: Json | undefined): Json | undefined {
  if (typeof a === 'number' && typeof b === 'number') return a + b;
  if (isJsonObject(a) || isJsonObject(b)) return sumUsage(isJsonObject(a) ? a : undefined, b);
  return b ?? a;
}
