import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { readRepeatedFields } from '#shared/formats/responses/response-object.ts';
import type { AnswerContext } from '../translation.ts';

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
