import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { Minted } from '../translation.ts';

/** Fields of the request that the router keeps from the upstream, and answers itself. */
const kept = ['store', 'previous_response_id'] as const;

/** The fields of a response object that are the router's, as far as the object has them. */
export function ownFields(response: JsonObject, { id, model, recalled }: Minted): JsonObject {
  const repeated = isJsonObject(recalled?.['repeated']) ? recalled['repeated'] : {};
  const own: JsonObject = { id };
  if (response['model'] !== undefined) own['model'] = model;
  for (const field of kept) {
    const value = repeated[field];
    if (value !== undefined && response[field] !== undefined) own[field] = value;
  }
  return own;
}

/**
 * An event's data with other values in some fields of its response object. All other bytes stay as they are, unless a field's
 * text stands in the data more than once.
 */
export function withOwnFields(data: string, event: JsonObject, own: JsonObject): string {
  const response = isJsonObject(event['response']) ? event['response'] : {};
  let text = data;
  for (const [field, value] of Object.entries(own)) {
    const given = response[field];
    if (given === value) continue;
    const replaced = replaceOnce(text, field, given, value);
    if (replaced === undefined) return JSON.stringify({ ...event, response: { ...response, ...own } });
    text = replaced;
  }
  return text;
}

/** Undefined unless the field with this value stands in the text exactly once. */
function replaceOnce(text: string, field: string, from: Json | undefined, to: Json | undefined): string | undefined {
  if (from === undefined || isJsonObject(from)) return undefined;
  const before = `"${field}":${JSON.stringify(from)}`;
  const at = text.indexOf(before);
  if (at < 0 || text.includes(before, at + 1)) return undefined;
  return `${text.slice(0, at)}"${field}":${JSON.stringify(to)}${text.slice(at + before.length)}`;
}
