import type { JsonObject } from '#shared/core/json.ts';
import { mapMessages } from '#shared/upstream/chat-messages.ts';

/** Fields of an assistant's message that OpenAI's clients replay even with nothing in them, as `refusal: null`. */
const optional: ReadonlySet<string> = new Set(['refusal', 'annotations', 'audio', 'function_call']);

/** An assistant's messages without empty fields: a provider that refuses unknown fields refuses empty ones too. */
export function plainAssistants(request: JsonObject): JsonObject {
  return mapMessages(request, (message) => {
    if (message.role !== 'assistant') return message;
    const filled = Object.entries(message).filter(([name, value]) => !optional.has(name) || !isEmpty(value));
    return Object.fromEntries(filled);
  });
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}
