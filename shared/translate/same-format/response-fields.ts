import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { AnswerContext } from '../translation.ts';
import { readRepeatedFields } from '#shared/formats/responses/response-object.ts';

/** Fields of the response object that repeat fields of the client's request. The router does not send these fields to the upstream. */
const requestFields = ['store', 'previous_response_id'] as const;

/** Returns the fields that the router sets in a response object: the id, and those of its other fields that the object has. */
export function createRouterFields(response: JsonObject, { id, model, recalled }: AnswerContext): JsonObject {
  const repeated = isJsonObject(recalled?.['repeated']) ? recalled['repeated'] : {};
  const routerValues: JsonObject = { id };
  if (response['model'] !== undefined) routerValues['model'] = model;
  for (const field of requestFields) {
    const value = repeated[field];
    if (value !== undefined && response[field] !== undefined) routerValues[field] = value;
  }
  return routerValues;
}

/**
 * Replaces fields of the response object in an event's data. All other bytes stay unchanged. If the text of a field occurs more than once
 * in the data, the whole event is written anew.
 */
export function replaceRouterFields(data: string, event: JsonObject, routerValues: JsonObject): string {
  const response = isJsonObject(event['response']) ? event['response'] : {};
  let text = data;
  for (const [field, value] of Object.entries(routerValues)) {
    const fieldValue = response[field];
    if (fieldValue === value) continue;
    const replaced = replaceOnce(text, field, fieldValue, value);
    if (replaced === undefined) return JSON.stringify({ ...event, response: { ...response, ...routerValues } });
    text = replaced;
  }
  return text;
}

/** Replaces the value of a field in JSON text. Returns undefined unless the text contains the field with this value exactly once. */
function replaceOnce(text: string, field: string, from: Json | undefined, to: Json | undefined): string | undefined {
  if (from === undefined || isJsonObject(from)) return undefined;
  const oldText = `"${field}":${JSON.stringify(from)}`;
  const index = text.indexOf(oldText);
  if (index < 0 || text.includes(oldText, index + 1)) return undefined;
  return `${text.slice(0, index)}"${field}":${JSON.stringify(to)}${text.slice(index + oldText.length)}`;
}

/** Required fields of a response object that some servers leave out, with the values of unset fields. */
const unsetFields: JsonObject = {
  completed_at: null,
  error: null,
  incomplete_details: null,
  output: [],
  usage: null,
};

/**
 * Adds the fields that the format requires to a response object. Servers that do not repeat the request's fields leave most required fields
 * out, and clients' parsers then fail. An object with `tools` counts as complete and is returned unchanged.
 */
export function addRequiredFields(response: JsonObject, { model, created, recalled }: AnswerContext): JsonObject {
  if (response['tools'] !== undefined) return response;
  const repeated = isJsonObject(recalled?.['repeated']) ? recalled['repeated'] : readRepeatedFields({});
  const { usage } = response;
  return {
    ...unsetFields,
    created_at: created,
    model,
    ...repeated,
    ...response,
    ...(isJsonObject(usage) && { usage: completeCounts(usage) }),
  };
}

function completeCounts(usage: JsonObject): JsonObject {
  const { input_tokens_details: input, output_tokens_details: output } = usage;
  return {
    ...usage,
    input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0, ...(isJsonObject(input) && input) },
    output_tokens_details: { reasoning_tokens: 0, ...(isJsonObject(output) && output) },
  };
}
