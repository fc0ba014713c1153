import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** A copy of the request with each message replaced by what `change` makes of it. Only the list itself is copied. */
export function mapMessages(request: JsonObject, change: (message: JsonObject) => JsonObject): JsonObject {
  const { messages } = request;
  if (!Array.isArray(messages)) return request;
  return { ...request, messages: messages.map((message) => (isJsonObject(message) ? change(message) : message)) };
}
