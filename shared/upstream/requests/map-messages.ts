import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** The request with each message replaced by what `change` makes of it; the same one when it changes none. */
export function mapMessages(request: JsonObject, change: (message: JsonObject) => JsonObject): JsonObject {
  const { messages } = request;
  if (!Array.isArray(messages)) return request;
  const changed = messages.map((message) => (isJsonObject(message) ? change(message) : message));
  return changed.every((message, position) => message === messages[position])
    ? request
    : { ...request, messages: changed };
}
