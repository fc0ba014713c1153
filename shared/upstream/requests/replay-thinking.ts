import type { JsonObject } from '#shared/core/json.ts';

/**
 * Gives the thinking in an assistant's earlier message the names under which the engine reads it. Clients send it under
 * either name.
 */
export function replayThinking(message: JsonObject, names: readonly ('reasoning' | 'reasoning_content')[]): JsonObject {
  if (message.role !== 'assistant') return message;
  if (message.reasoning === undefined && message.reasoning_content === undefined) return message;
  const { reasoning, reasoning_content: content, ...rest } = message;
  const thinking = content ?? reasoning;
  if (typeof thinking !== 'string' || thinking === '') return rest;
  return { ...rest, ...Object.fromEntries(names.map((name) => [name, thinking])) };
}
