import { countFields, type ListSizes } from '#shared/core/json-lists.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { ChatMessage, ChatPart, ChatRequest } from './request.ts';

/**
 * The lists of a request that every chat upstream gets as they are: messages that engines differ in (thinking of earlier turns,
 * instructions of developers, the beginning of an answer, several texts in one message) or that a worker has to look at (files,
 * images that are not in the request) make it read all of them.
 */
export function chatListsToPass({ messages, tools, tool_choice: choice }: ChatRequest): ListSizes | undefined {
  if (messages.at(-1)?.role === 'assistant' || !messages.every(isPassed)) return undefined;
  // A tool that is named may have to be the only one; functions may have to stand for custom tools.
  const passesTools =
    Array.isArray(tools) && tools.length > 0 && !isJsonObject(choice) && tools.every(({ type }) => type !== 'custom');
  return { messages: countFields(messages), ...(passesTools && { tools: countFields(tools) }) };
}

function isPassed(message: ChatMessage): boolean {
  const { role, content, reasoning, reasoning_content: thinking } = message;
  if (role === 'developer' || reasoning !== undefined || thinking !== undefined) return false;
  if (role === 'assistant' && message.tool_calls?.some(({ type }) => type === 'custom') === true) return false;
  if (!Array.isArray(content)) return true;
  return content.every((part) => isTextOnly(part) || isInlinedImage(part)) && content.some(isInlinedImage);
}

function isTextOnly(part: ChatPart): boolean {
  return part.type === 'text' && hasOnly(part, ['type', 'text']);
}

/** Whether a part is an image that is in the request itself, and nothing else. */
function isInlinedImage(part: ChatPart): boolean {
  if (part.type !== 'image_url' || !hasOnly(part, ['type', 'image_url'])) return false;
  const { image_url: image } = part;
  return hasOnly(image, ['url', 'detail']) && /^data:/i.test(image.url);
}

function hasOnly(object: JsonObject, names: readonly string[]): boolean {
  return Object.keys(object).every((name) => names.includes(name));
}
