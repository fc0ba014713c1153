import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** Returns the request with every message replaced by what `change` returns; the same object if no message changes. */
export function mapMessages(request: JsonObject, change: (message: JsonObject) => JsonObject): JsonObject {
  const { messages } = request;
  if (!Array.isArray(messages)) return request;
  const changed = messages.map((message) => (isJsonObject(message) ? change(message) : message));
  return changed.every((message, position) => message === messages[position])
    ? request
    : { ...request, messages: changed };
}

/** Changes the role `developer` to `system`, the only one of both that most local models' chat templates support. */
export function developerAsSystem(message: JsonObject): JsonObject {
  return message.role === 'developer' ? { ...message, role: 'system' } : message;
}

/**
 * Renames the thinking in an earlier assistant message to the fields that the upstream reads; drops the thinking if the upstream reads none
 * of them. Clients send it as either `reasoning` or `reasoning_content`.
 */
export function replayThinking(message: JsonObject, names: readonly ('reasoning' | 'reasoning_content')[]): JsonObject {
  if (message.role !== 'assistant') return message;
  if (message.reasoning === undefined && message.reasoning_content === undefined) return message;
  const { reasoning, reasoning_content: content, ...rest } = message;
  const thinking = content ?? reasoning;
  if (typeof thinking !== 'string' || thinking === '') return rest;
  return { ...rest, ...Object.fromEntries(names.map((name) => [name, thinking])) };
}
