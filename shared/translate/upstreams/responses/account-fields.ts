import type { JsonObject } from '#shared/core/json.ts';

/**
 * Fields of a Responses request that name what the operator's account with the provider has stored, for all that use the account, or
 * have it store something (OpenAI API reference, "Create a model response"). Clients of other formats may not send them unseen.
 */
const accountFields = ['previous_response_id', 'conversation', 'prompt', 'background'] as const;

/** The first such field that a request of another format has. */
export function accountField(request: JsonObject): string | undefined {
  return accountFields.find((field) => {
    const value = request[field];
    return value !== undefined && value !== null && value !== false;
  });
}
