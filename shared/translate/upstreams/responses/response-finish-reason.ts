import { isJsonObject, type Json } from '#shared/core/json.ts';
import type { FinishReason } from '../chat/finish-reason.ts';

/** Returns the finish reason, as in the chat format, of a response that has ended. */
export function readResponseFinishReason(response: Json | undefined, hasToolCalls: boolean): FinishReason {
  const { status, incomplete_details: details } = isJsonObject(response) ? response : {};
  if (status === 'incomplete') {
    return isJsonObject(details) && details['reason'] === 'content_filter' ? 'content_filter' : 'length';
  }
  return hasToolCalls ? 'tool_calls' : 'stop';
}

export function isToolCall(item: Json | undefined): boolean {
  return isJsonObject(item) && (item['type'] === 'function_call' || item['type'] === 'custom_tool_call');
}
