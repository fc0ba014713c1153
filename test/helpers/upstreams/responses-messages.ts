import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { chatRequestSchema, type ChatMessage } from '#services/demo-engine/request/chat-request.ts';

/** Returns the parts of a Responses conversation that a script needs: texts of users, rounds of calls, results. */
export function messagesOfInput({ input }: JsonObject): ChatMessage[] {
  const items: Json[] = typeof input === 'string' ? [{ role: 'user', content: input }] : (input as Json[]);
  const messages = items.filter(isJsonObject).flatMap((item, at): JsonObject[] => {
    const { type = 'message', role, call_id: id } = item;
    switch (type) {
      case 'message':
        return [{ role: role ?? null, content: textOf(item['content']) }];
      case 'function_call':
      case 'custom_tool_call': {
        const { name, arguments: given, input: text } = item;
        const call: Json = { id: id ?? null, function: { name: name ?? null, arguments: given ?? text ?? null } };
        // Calls of one answer follow each other, and count as one round.
        const isFirst = !isCall(items[at - 1]);
        return isFirst ? [{ role: 'assistant', content: null, tool_calls: [call] }] : [];
      }
      case 'function_call_output':
      case 'custom_tool_call_output':
        return [{ role: 'tool', tool_call_id: id ?? null, content: textOf(item['output']) }];
      default:
        return [];
    }
  });
  return chatRequestSchema.shape.messages.parse(messages);
}

function isCall(item: Json | undefined): boolean {
  return isJsonObject(item) && (item['type'] === 'function_call' || item['type'] === 'custom_tool_call');
}

function textOf(content: Json | undefined): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  return content
    .flatMap((part) => (isJsonObject(part) && typeof part['text'] === 'string' ? [part['text']] : []))
    .join('\n');
}
