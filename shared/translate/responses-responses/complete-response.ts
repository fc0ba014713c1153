import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { repeatedFields } from '#shared/formats/responses/response-object.ts';
import type { Minted } from '../translation.ts';

/** What every response object has, and some servers leave out. */
const unset: JsonObject = { completed_at: null, error: null, incomplete_details: null, output: [], usage: null };

/**
 * A response object with the fields that the format demands. Servers that repeat nothing of the request leave most of them out,
 * and parsers of the object then fail; an object that has its tools is left as it is.
 */
export function completeResponse(response: JsonObject, { model, created, recalled }: Minted): JsonObject {
  if (response['tools'] !== undefined) return response;
  const repeated = isJsonObject(recalled?.['repeated']) ? recalled['repeated'] : repeatedFields({});
  const { usage } = response;
  return {
    ...unset,
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
