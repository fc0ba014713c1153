import type { JsonObject } from '#shared/core/json.ts';
import { messagesNeeds } from '#shared/formats/messages/needs.ts';
import type { MessagesMessage, MessagesRequest } from '#shared/formats/messages/request.ts';

/** What one edit of `context_management` does to a history. */
export interface ContextEdit {
  messages: MessagesMessage[];
  /** How often it cleared something, in the field that the answer has for it. */
  cleared: JsonObject;
}

/** Input tokens of the request with this history, estimated. */
export function tokensOf(request: MessagesRequest, messages: MessagesMessage[]): number {
  return messagesNeeds({ ...request, messages }).inputTokens;
}
