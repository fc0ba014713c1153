import { isJsonObject, type JsonObject } from '#shared/core/json.ts';

/** Replaces every message of a request by the result of `change`. Returns the same object if no message changes. */
export function mapMessages(request: JsonObject, change: (message: JsonObject) => JsonObject): JsonObject {
  const { messages } = request;
  if (!Array.isArray(messages)) return request;
  const changedMessages = messages.map((message) => (isJsonObject(message) ? change(message) : message));
  return changedMessages.every((message, position) => message === messages[position])
    ? request
    : { ...request, messages: changedMessages };
}

/** Changes the role `developer` to `system`, because the chat templates of most local models lack `developer`. */
export function changeDeveloperToSystem(message: JsonObject): JsonObject {
  return message.role === 'developer' ? { ...message, role: 'system' } : message;
}

/**
 * Moves the thinking of an earlier assistant message (`reasoning` or `reasoning_content`) into the fields `names`, which the upstream
 * reads. Without names, drops the thinking.
 */
export function renameThinking(message: JsonObject, names: readonly ('reasoning' | 'reasoning_content')[]): JsonObject {
  if (message.role !== 'assistant') return message;
  if (message.reasoning === undefined && message.reasoning_content === undefined) return message;
  const { reasoning, reasoning_content: content, ...rest } = message;
  const thinking = content ?? reasoning;
  if (typeof thinking !== 'string' || thinking === '') return rest;
  return { ...rest, ...Object.fromEntries(names.map((name) => [name, thinking])) };
}
