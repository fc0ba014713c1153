import type { ChatContent, ChatMessage, ChatPart, ChatToolCall } from '#shared/formats/chat/request.ts';
import type { MessagesBlock, MessagesMessage, TextBlock, ToolResultBlock } from '#shared/formats/messages/request.ts';
import { isToolChange } from '../context/offered-tools.ts';
import { blockToParts } from './block-to-parts.ts';
import type { Target } from '../translation.ts';
import { unsupportedInMessages } from '../unsupported.ts';
import { toolArguments } from '../vocabulary/tool-call.ts';

/** Start of a system block with Claude Code's version, which changes with every turn and so defeats prefix caches. */
const billingHeader = 'x-anthropic-billing-header:';

/**
 * Translates a messages history to the chat format. All system text is joined in a first system message, because many chat
 * templates refuse a later one. In a user turn, each tool result becomes a message of its own, before the rest; images in
 * results move to the user message after them. Thinking becomes `reasoning_content`.
 * @throws RouterError `unsupported_parameter` that names a part the chat format does not have
 */
export function messagesHistoryToChat(
  system: string | readonly TextBlock[] | null | undefined,
  messages: readonly MessagesMessage[],
  target: Target,
): ChatMessage[] {
  const systemTexts = textsOf(system ?? '', 'system').filter((text) => !text.startsWith(billingHeader));
  const history: ChatMessage[] = [];
  for (const [at, { role, content }] of messages.entries()) {
    const param = `messages.${at}.content`;
    if (role === 'system') systemTexts.push(...textsOf(content, param));
    else if (role === 'assistant') history.push(assistantMessage(content, param));
    else history.push(...userMessages(content, param, target));
  }
  const text = systemTexts.filter((part) => part !== '').join('\n\n');
  return text === '' ? history : [{ role: 'system', content: text }, ...history];
}

function textsOf(content: string | readonly MessagesBlock[], param: string): string[] {
  if (typeof content === 'string') return [content];
  return content.flatMap((block, at) => {
    if (block.type === 'text') return [block.text];
    if (isToolChange(block)) return [];
    throw unsupportedInMessages(`${param}.${at}.type`, `content of type '${block.type}' in a system prompt`);
  });
}

function userMessages(content: string | MessagesBlock[], param: string, target: Target): ChatMessage[] {
  if (typeof content === 'string') return [{ role: 'user', content }];
  const results: ChatMessage[] = [];
  const parts: ChatPart[] = [];
  for (const [at, block] of content.entries()) {
    if (block.type === 'tool_result') {
      const { text, images } = resultOf(block, `${param}.${at}.content`, target);
      results.push({ role: 'tool', tool_call_id: block.tool_use_id, content: text });
      parts.push(...images);
    } else {
      parts.push(...blockToParts(block, `${param}.${at}`, target));
    }
  }
  return parts.length > 0 || results.length === 0 ? [...results, { role: 'user', content: simplest(parts) }] : results;
}

/** A tool message has one text: some engines read every part of it as a message of its own. */
function resultOf(block: ToolResultBlock, param: string, target: Target): { text: string; images: ChatPart[] } {
  const { content, is_error: isError } = block;
  const blocks: MessagesBlock[] = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const parts = blocks.flatMap((inner, at) => blockToParts(inner, `${param}.${at}`, target));
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  return { text: isError === true ? `Error: ${text}` : text, images: parts.filter((part) => part.type !== 'text') };
}

function assistantMessage(content: string | MessagesBlock[], param: string): ChatMessage {
  if (typeof content === 'string') return { role: 'assistant', content };
  const parts: ChatPart[] = [];
  const calls: ChatToolCall[] = [];
  const thoughts: string[] = [];
  for (const [at, block] of content.entries()) {
    switch (block.type) {
      case 'text':
        parts.push({ type: 'text', text: block.text });
        break;
      case 'tool_use': {
        const fn = { name: block.name, arguments: toolArguments(block.input) };
        calls.push({ id: block.id, type: 'function', function: fn });
        break;
      }
      case 'thinking':
        thoughts.push(block.thinking);
        break;
      case 'redacted_thinking':
        // Only the upstream that made it can read it.
        break;
      default:
        throw unsupportedInMessages(`${param}.${at}.type`, `content of type '${block.type}' in an assistant message`);
    }
  }
  const reasoning = thoughts.filter((thought) => thought !== '').join('\n\n');
  return {
    role: 'assistant',
    content: parts.length === 0 && calls.length > 0 ? null : simplest(parts),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** A single text becomes a string. */
function simplest(parts: ChatPart[]): ChatContent {
  const [first] = parts;
  if (first === undefined) return '';
  return parts.length === 1 && first.type === 'text' ? first.text : parts;
}
