import type { JsonObject } from '#shared/core/json.ts';
import { computeMessagesNeeds } from '#shared/formats/messages/needs.ts';
import type { MessagesMessage, MessagesRequest } from '#shared/formats/messages/request.ts';

/** The result of an edit. */
export interface ContextEdit {
  /** The messages after the edit. */
  messages: MessagesMessage[];
  /** The number of cleared turns or calls, under the name of its field in the answer. */
  cleared: JsonObject;
}

/** Estimates the input tokens of the request with this history. */
export function estimateHistoryTokens(request: MessagesRequest, messages: MessagesMessage[]): number {
  return computeMessagesNeeds({ ...request, messages }).inputTokens;
}
