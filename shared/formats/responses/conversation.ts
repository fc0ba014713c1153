import { digestConversation, type Conversation } from '../conversation.ts';
import type { ResponsesItem, ResponsesRequest } from './request.ts';

/** Identifies the conversation of a request by its start and, if the request has one, by its `prompt_cache_key`. */
export function digestResponsesConversation({
  instructions,
  input,
  prompt_cache_key: name,
}: ResponsesRequest): Conversation {
  return digestConversation(name, listStartTexts(instructions ?? '', input ?? ''));
}

/** Yields the texts of the instructions and of the user's first message. */
function* listStartTexts(instructions: string, input: string | ResponsesItem[]): Generator<string> {
  yield instructions;
  if (typeof input === 'string') {
    yield input;
    return;
  }
  for (const item of input) {
    const { role, content } = item as { role?: string; content?: unknown };
    if (role === undefined || role === 'assistant') continue;
    if (typeof content === 'string') yield content;
    else if (Array.isArray(content))
      for (const { text } of content as { text?: unknown }[]) if (isText(text)) yield text;
    if (role === 'user') return;
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
