import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { mapMessages } from '#shared/upstream/chat-messages.ts';

/**
 * Gives the tool calls in a conversation ids of nine letters and digits. The same id becomes the same one wherever it
 * stands, so that results go on belonging to their calls; one that is short already stays.
 */
export function shortToolIds(request: JsonObject): JsonObject {
  return mapMessages(request, (message) => {
    const { tool_call_id: id, tool_calls: calls } = message;
    return {
      ...message,
      ...(typeof id === 'string' && { tool_call_id: shortId(id) }),
      ...(Array.isArray(calls) && { tool_calls: calls.map(withShortId) }),
    };
  });
}

function withShortId(call: Json): Json {
  return isJsonObject(call) && typeof call.id === 'string' ? { ...call, id: shortId(call.id) } : call;
}

/** Nine hexadecimal digits of a digest: two of a conversation's calls share them less than once in a million. */
function shortId(id: string): string {
  if (/^[A-Za-z0-9]{9}$/.test(id)) return id;
  return createHash('sha256').update(id).digest('hex').slice(0, 9);
}
