import { isJsonObject, type Json } from '#shared/core/json.ts';

/**
 * Puts a registry name's default fields into a body that lacks them. They are written in front of the client's own
 * fields, so the body itself is neither parsed nor written anew.
 * @param body a JSON object's text
 * @param given the same object, parsed
 */
export function addDefaults(body: Buffer, given: unknown, defaults: Readonly<Record<string, Json>>): Buffer {
  const missing = Object.entries(defaults).filter(([field]) => isJsonObject(given) && given[field] === undefined);
  if (missing.length === 0) return body;
  const start = body.indexOf('{') + 1;
  const fields = JSON.stringify(Object.fromEntries(missing)).slice(1, -1);
  return Buffer.concat([Buffer.from(`{${fields},`), body.subarray(start)]);
}
