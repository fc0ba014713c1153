import type { ChatContent, ChatMessage, ChatPart, ChatToolCall } from '#shared/formats/chat/request.ts';
import { readHostedResultText } from '#shared/formats/messages/hosted/hosted-result-text.ts';
import { isHostedName, isHostedResult } from '#shared/formats/messages/hosted/hosted-block.ts';
import type {
  MessagesBlock,
  MessagesMessage,
  ServerToolUseBlock,
  TextBlock,
  ToolResultBlock,
  ToolUseBlock,
} from '#shared/formats/messages/request.ts';
import { isToolChange } from '../context/offered-tools.ts';
import { blockToParts } from './block-to-parts.ts';
import type { ModelTraits } from '../translation.ts';
import { unsupportedInMessages } from '../unsupported.ts';
import { withReturned, type ReturnedReasoning } from '../upstreams/chat/returned-reasoning.ts';
import { readReturnedSignature } from '../vocabulary/returned-signature.ts';
import { readTextSignature } from '../vocabulary/shown-thinking.ts';
import { toolArguments } from '../vocabulary/tool-call.ts';

/** Start of a system block with Claude Code's version. The block changes with every turn, which would defeat prefix caches. */
const billingHeader = 'x-anthropic-billing-header:';

/**
 * Translates a `messages` history to the chat format. All system text is joined in a first system message, because many chat templates
 * refuse a later one. In a user turn, each tool result becomes a separate message before the other content. Images in results move to the
 * user message after them, and each result names its images by number. Thinking becomes `reasoning_content`. Calls of web search and web
 * fetch become tool calls with their results.
 * @throws RouterError `unsupported_parameter` that names a part the chat format does not have
 */
export function messagesHistoryToChat(
  system: string | readonly TextBlock[] | null | undefined,
  messages: readonly MessagesMessage[],
  traits: ModelTraits,
): ChatMessage[] {
  const systemTexts = textsOf(system ?? '', 'system').filter((text) => !text.startsWith(billingHeader));
  const history: ChatMessage[] = [];
  for (const [at, { role, content }] of messages.entries()) {
    const param = `messages.${at}.content`;
    if (role === 'system') systemTexts.push(...textsOf(content, param));
    else if (role === 'assistant') history.push(...assistantMessages(content, param, traits));
    else history.push(...userMessages(content, param, traits));
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

function userMessages(content: string | MessagesBlock[], param: string, traits: ModelTraits): ChatMessage[] {
  if (typeof content === 'string') return [{ role: 'user', content }];
  const results: ChatMessage[] = [];
  const parts: ChatPart[] = [];
  for (const [at, block] of content.entries()) {
    if (block.type === 'tool_result') {
      const { text, images } = resultOf(block, `${param}.${at}.content`, traits);
      const before = parts.filter(({ type }) => type !== 'text').length;
      const content = [text, ...placesOf(images, before)].filter((each) => each !== '').join('\n\n');
      results.push({ role: 'tool', tool_call_id: block.tool_use_id, content });
      parts.push(...images);
    } else {
      parts.push(...blockToParts(block, `${param}.${at}`, traits));
    }
  }
  return parts.length > 0 || results.length === 0 ? [...results, { role: 'user', content: simplest(parts) }] : results;
}

/** Translates a tool result. Its message has one text, because some engines read every part as a separate message. */
function resultOf(block: ToolResultBlock, param: string, traits: ModelTraits): { text: string; images: ChatPart[] } {
  const { content, is_error: isError } = block;
  const blocks: MessagesBlock[] = typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? []);
  const parts = blocks.flatMap((inner, at) => blockToParts(inner, `${param}.${at}`, traits));
  const text = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
  return { text: isError === true ? `Error: ${text}` : text, images: parts.filter((part) => part.type !== 'text') };
}

/**
 * Names the images and files of a result by their number in the next message.
 * @param before number of images and files that precede them there
 */
function placesOf(media: readonly ChatPart[], before: number): string[] {
  return media.map(
    ({ type }, at) => `[${type === 'file' ? 'File' : 'Image'}: number ${before + at + 1} in the next message]`,
  );
}

interface Draft {
  parts: ChatPart[];
  calls: ChatToolCall[];
  thoughts: string[];
  /** Reasoning that the upstream wants back. */
  returned: ReturnedReasoning[];
}

const emptyDraft = (): Draft => ({ parts: [], calls: [], thoughts: [], returned: [] });

/**
 * Translates an assistant turn. The result of a hosted call becomes a separate message after the message with the call, and the content
 * after the result begins another message.
 */
function assistantMessages(content: string | MessagesBlock[], param: string, traits: ModelTraits): ChatMessage[] {
  if (typeof content === 'string') return [{ role: 'assistant', content }];
  const answered = new Set(content.flatMap((block) => (isHostedResult(block) ? [block.tool_use_id] : [])));
  const messages: ChatMessage[] = [];
  let draft = emptyDraft();
  for (const [at, block] of content.entries()) {
    if (isHostedResult(block)) {
      if (!isEmpty(draft)) messages.push(written(draft));
      draft = emptyDraft();
      messages.push({ role: 'tool', tool_call_id: block.tool_use_id, content: readHostedResultText(block) });
    } else if (block.type === 'server_tool_use' && isHostedName(block.name)) {
      // A call that was cut off has no result, and engines refuse such a call.
      if (answered.has(block.id)) draft.calls.push(callOf(block));
    } else add(block, draft, `${param}.${at}`, traits);
  }
  return isEmpty(draft) && messages.length > 0 ? messages : [...messages, written(draft)];
}

function add(block: MessagesBlock, draft: Draft, param: string, traits: ModelTraits): void {
  const { parts, calls, thoughts, returned } = draft;
  switch (block.type) {
    case 'text':
      parts.push({ type: 'text', text: block.text });
      break;
    case 'tool_use':
      calls.push(callOf(block));
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
      throw unsupportedInMessages(`${param}.type`, `content of type '${block.type}' in an assistant message`);
  }
}

function callOf({ id, name, input }: ToolUseBlock | ServerToolUseBlock): ChatToolCall {
  return { id, type: 'function', function: { name, arguments: toolArguments(input) } };
}

function isEmpty({ parts, calls, thoughts }: Draft): boolean {
  return parts.length === 0 && calls.length === 0 && thoughts.length === 0;
}

function written({ parts, calls, thoughts, returned }: Draft): ChatMessage {
  const reasoning = thoughts.filter((thought) => thought !== '').join('\n\n');
  const message: ChatMessage = {
    role: 'assistant',
    content: parts.length === 0 && calls.length > 0 ? null : simplest(parts),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
  return withReturned(message, returned);
}

function simplest(parts: ChatPart[]): ChatContent {
  const [first] = parts;
  if (first === undefined) return '';
  return parts.length === 1 && first.type === 'text' ? first.text : parts;
}
