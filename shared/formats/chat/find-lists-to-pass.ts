import { countFields, type ListSizes } from '#shared/core/json-lists.ts';
import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { ChatMessage, ChatPart, ChatRequest } from './request.ts';

/**
 * Returns the lists of a request that a worker can pass to every chat upstream unread; undefined if the worker has to read the messages.
 * The worker has to read all messages if engines treat the content of one message differently: thinking of earlier turns, developer
 * instructions, the beginning of an answer, or several texts in one message. It also has to read all messages if it must replace content,
 * that is, files and image URLs.
 */
export function findListsToPass({ messages, tools, tool_choice: choice }: ChatRequest): ListSizes | undefined {
  if (messages.at(-1)?.role === 'assistant' || !messages.every(canPassUnread)) return undefined;
  // Some engines need a named tool to be the only one in the list, and some need functions in place of custom tools.
  const canPassTools =
    Array.isArray(tools) && tools.length > 0 && !isJsonObject(choice) && tools.every(({ type }) => type !== 'custom');
  return { messages: countFields(messages), ...(canPassTools && { tools: countFields(tools) }) };
}

function canPassUnread(message: ChatMessage): boolean {
  const { role, content, reasoning, reasoning_content: thinking } = message;
  if (role === 'developer' || reasoning !== undefined || thinking !== undefined) return false;
  if (role === 'assistant' && message.tool_calls?.some(({ type }) => type === 'custom') === true) return false;
  if (!Array.isArray(content)) return true;
  return content.every((part) => isTextOnly(part) || isInlinedImage(part)) && content.some(isInlinedImage);
}

function isTextOnly(part: ChatPart): boolean {
  return part.type === 'text' && hasOnlyFields(part, ['type', 'text']);
}

/** Whether a content part contains an image as a `data:` URL, and no other fields. */
function isInlinedImage(part: ChatPart): boolean {
  if (part.type !== 'image_url' || !hasOnlyFields(part, ['type', 'image_url'])) return false;
  const { image_url: image } = part;
  return hasOnlyFields(image, ['url', 'detail']) && /^data:/i.test(image.url);
}

function hasOnlyFields(object: JsonObject, names: readonly string[]): boolean {
  return Object.keys(object).every((name) => names.includes(name));
}
