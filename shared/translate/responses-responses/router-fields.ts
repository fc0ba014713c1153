import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { AnswerContext } from '../translation.ts';

/** Fields of the response object that repeat the client's request, although the router did not send them to the upstream. */
const routerAnswered = ['store', 'previous_response_id'] as const;

/** Returns the values that the router sets in a response object: the id, and the others of its fields that the object has. */
export function routerFields(response: JsonObject, { id, model, recalled }: AnswerContext): JsonObject {
  const repeated = isJsonObject(recalled?.['repeated']) ? recalled['repeated'] : {};
  const own: JsonObject = { id };
  if (response['model'] !== undefined) own['model'] = model;
  for (const field of routerAnswered) {
    const value = repeated[field];
    if (value !== undefined && response[field] !== undefined) own[field] = value;
  }
  return own;
}

/**
 * Replaces fields of the response object in an event's data. All other bytes stay unchanged, unless the text of a field occurs more than
 * once in the data, so that the event must be written anew.
 */
export function withRouterFields(data: string, event: JsonObject, own: JsonObject): string {
  const response = isJsonObject(event['response']) ? event['response'] : {};
  let text = data;
  for (const [field, value] of Object.entries(own)) {
    const fieldValue = response[field];
    if (fieldValue === value) continue;
    const replaced = replaceOnce(text, field, fieldValue, value);
    if (replaced === undefined) return JSON.stringify({ ...event, response: { ...response, ...own } });
    text = replaced;
  }
  return text;
}

/** Replaces the value of a field in JSON text. Returns undefined unless the text contains the field with this value exactly once. */
function replaceOnce(text: string, field: string, from: Json | undefined, to: Json | undefined): string | undefined {
  if (from === undefined || isJsonObject(from)) return undefined;
  const before = `"${field}":${JSON.stringify(from)}`;
  const at = text.indexOf(before);
  if (at < 0 || text.includes(before, at + 1)) return undefined;
  return `${text.slice(0, at)}"${field}":${JSON.stringify(to)}${text.slice(at + before.length)}`;
}
