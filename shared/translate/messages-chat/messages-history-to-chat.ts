import { simplifyParts } from '../upstreams/chat/chat-upstream.ts';
import type { ChatMessage, ChatPart, ChatToolCall } from '#shared/formats/chat/request.ts';
import {
  isBillingHeader,
  type MessagesBlock,
  type MessagesMessage,
  type ServerToolUseBlock,
  type TextBlock,
  type ToolResultBlock,
  type ToolUseBlock,
} from '#shared/formats/messages/request.ts';
import { readHostedResultText, isHostedName, isHostedResult } from '#shared/formats/messages/hosted/hosted-block.ts';
import { isToolChange } from '../context/offered-tools.ts';
import { blockToParts } from './block-to-parts.ts';
import type { ModelTraits } from '../translation.ts';
import { createUnsupportedMessagesError } from '../unsupported.ts';
import { addReturnedReasoning, type ReturnedReasoning } from '../upstreams/chat/returned-reasoning.ts';
import { readReturnedSignature } from '../vocabulary/reasoning-signature.ts';
import { readTextSignature } from '../vocabulary/shown-thinking.ts';
import { writeToolArguments } from '../vocabulary/tool-call.ts';

/**
 * Translates a `messages` history to the chat format. Joins all system text in a first system message, because many chat templates refuse a
 * later system message. In a user turn, each tool result becomes a separate message before the other content. Images in tool results move
 * to the user message after the results, and each result gives the numbers of its images there. Thinking becomes `reasoning_content`. Calls
 * of web search and web fetch become tool calls with their results.
 * @throws RouterError `unsupported_parameter` that names a part the chat format does not have
 */
export function messagesHistoryToChat(
  system: string | readonly TextBlock[] | null | undefined,
  messages: readonly MessagesMessage[],
  traits: ModelTraits,
): ChatMessage[] {
  const systemTexts = readSystemTexts(system ?? '', 'system').filter((text) => !isBillingHeader(text));
  const history: ChatMessage[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    const param = `messages.${index}.content`;
    if (role === 'system') systemTexts.push(...readSystemTexts(content, param));
    else if (role === 'assistant') history.push(...translateAssistantTurn(content, param, traits));
    else history.push(...translateUserTurn(content, param, traits));
  }
  const text = systemTexts.filter((part) => part !== '').join('\n\n');
  return text === '' ? history : [{ role: 'system', content: text }, ...history];
}

function readSystemTexts(content: string | readonly MessagesBlock[], param: string): string[] {
  if (typeof content === 'string') return [content];
  return content.flatMap((block, index) => {
    if (block.type === 'text') return [block.text];
    if (isToolChange(block)) return [];
    throw createUnsupportedMessagesError(
      `${param}.${index}.type`,
      `content of type '${block.type}' in a system prompt`,
    );
  });
}

function translateUserTurn(content: string | MessagesBlock[], param: string, traits: ModelTraits): ChatMessage[] {
  if (typeof content === 'string') return [{ role: 'user', content }];
  const results: ChatMessage[] = [];
  const parts: ChatPart[] = [];
  for (const [index, block] of content.entries()) {
    if (block.type === 'tool_result') {
      const { text, images } = translateResult(block, `${param}.${index}.content`, traits);
      const countBefore = parts.filter(({ type }) => type !== 'text').length;
      const content = [text, ...describePlaces(images, countBefore)].filter((each) => each !== '').join('\n\n');
      results.push({ role: 'tool', tool_call_id: block.tool_use_id, content });
      parts.push(...images);
    } else {
      parts.push(...blockToParts(block, `${param}.${index}`, traits));
    }
  }
  return parts.length > 0 || results.length === 0
    ? [...results, { role: 'user', content: simplifyParts(parts) }]
    : results;
}

/** Translates a tool result. Joins all its text, because some engines read every part of a message as a separate message. */
function translateResult(
  block: ToolResultBlock,
  param: string,
  traits: ModelTraits,
): { text: string; images: ChatPart[] } {
  const { content, is_error: isError } = block;
  const blocks: MessagesBlock[] = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const parts = blocks.flatMap((inner, index) => blockToParts(inner, `${param}.${index}`, traits));
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  return { text: isError === true ? `Error: ${text}` : text, images: parts.filter((part) => part.type !== 'text') };
}

/**
 * Returns a text for each image and file of a result, with its number in the next message.
 * @param countBefore number of images and files of other results that precede them in the next message
 */
function describePlaces(media: readonly ChatPart[], countBefore: number): string[] {
  return media.map(
    ({ type }, index) =>
      `[${type === 'file' ? 'File' : 'Image'}: number ${countBefore + index + 1} in the next message]`,
  );
}

interface Draft {
  parts: ChatPart[];
  calls: ChatToolCall[];
  thoughts: string[];
  /** Reasoning that the upstream wants back. */
  returned: ReturnedReasoning[];
}

const createDraft = (): Draft => ({ parts: [], calls: [], thoughts: [], returned: [] });

/**
 * Translates an assistant turn. The result of a hosted call becomes a separate message after the message with the call. Content after the
 * result begins another message.
 */
function translateAssistantTurn(content: string | MessagesBlock[], param: string, traits: ModelTraits): ChatMessage[] {
  if (typeof content === 'string') return [{ role: 'assistant', content }];
  const answeredIds = new Set(content.flatMap((block) => (isHostedResult(block) ? [block.tool_use_id] : [])));
  const messages: ChatMessage[] = [];
  let draft = createDraft();
  for (const [index, block] of content.entries()) {
    if (isHostedResult(block)) {
      if (!isEmpty(draft)) messages.push(toMessage(draft));
      draft = createDraft();
      messages.push({ role: 'tool', tool_call_id: block.tool_use_id, content: readHostedResultText(block) });
    } else if (block.type === 'server_tool_use' && isHostedName(block.name)) {
      // A call that was cut off has no result, and engines refuse such a call.
      if (answeredIds.has(block.id)) draft.calls.push(toCall(block));
    } else addBlock(block, draft, `${param}.${index}`, traits);
  }
  return isEmpty(draft) && messages.length > 0 ? messages : [...messages, toMessage(draft)];
}

function addBlock(block: MessagesBlock, draft: Draft, param: string, traits: ModelTraits): void {
  const { parts, calls, thoughts, returned } = draft;
  switch (block.type) {
    case 'text':
      parts.push({ type: 'text', text: block.text });
      break;
    case 'tool_use':
      calls.push(toCall(block));
      break;
    case 'thinking': {
      const carried = readReturnedSignature(block.signature, traits);
      thoughts.push(carried?.omitted ?? readTextSignature(block.signature) ?? block.thinking);
      if (carried?.returned) returned.push(carried.returned);
      break;
    }
    // Only the upstream that made the block can read it.
    case 'redacted_thinking': {
      const carried = readReturnedSignature(block.data, traits);
      if (carried?.returned) returned.push(carried.returned);
      break;
    }
    default:
      throw createUnsupportedMessagesError(`${param}.type`, `content of type '${block.type}' in an assistant message`);
  }
}

function toCall({ id, name, input }: ToolUseBlock | ServerToolUseBlock): ChatToolCall {
  return { id, type: 'function', function: { name, arguments: writeToolArguments(input) } };
}

function isEmpty({ parts, calls, thoughts }: Draft): boolean {
  return parts.length === 0 && calls.length === 0 && thoughts.length === 0;
}

function toMessage({ parts, calls, thoughts, returned }: Draft): ChatMessage {
  const reasoning = thoughts.filter((thought) => thought !== '').join('\n\n');
  const message: ChatMessage = {
    role: 'assistant',
    content: parts.length === 0 && calls.length > 0 ? null : simplifyParts(parts),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return addReturnedReasoning(message, returned);
}
