import type { JsonObject } from '#shared/core/json.ts';

/**
 * Fields of a Responses request that name or store content in the operator's account with the provider (OpenAI API reference, "Create a
 * model response"). All users of the account share that content, so clients of other formats must not send these fields unchecked.
 */
const accountFields = ['previous_response_id', 'conversation', 'prompt', 'background'] as const;

/** Returns the first of these fields in a request of another format; undefined if the request sets none. */
export function findAccountField(request: JsonObject): string | undefined {
  return accountFields.find((field) => {
    const value = request[field];
    return value !== undefined && value !== null && value !== false;
  });
}
