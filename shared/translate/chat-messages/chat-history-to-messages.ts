import type { ChatCustomCall, ChatMessage, ChatToolCall } from '#shared/formats/chat/request.ts';
import type { MessagesBlock, MessagesMessage, TextBlock } from '#shared/formats/messages/request.ts';
import { chatContentToBlocks, appendRefusal } from './chat-content-to-blocks.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { assertTextBlock, simplifyContent, type TranslatedHistory } from '../upstreams/messages/translated-history.ts';
import { toMessagesToolId, parseToolInput } from '../vocabulary/tool-call.ts';

/**
 * Translates a chat's history. System and developer messages at the beginning become the system prompt; later ones stay in their place.
 * Consecutive tool results and the user message after them become one user turn. Omits thinking, because chat messages have no signature
 * for it. Omits messages without other content.
 * @throws RouterError `unsupported_parameter` that names a part the `messages` format does not have
 */
export function chatHistoryToMessages(history: readonly ChatMessage[]): TranslatedHistory {
  const system: TextBlock[] = [];
  const messages: MessagesMessage[] = [];
  /** The turn of tool results that the next result or user message joins. */
  let results: MessagesBlock[] | undefined;

  for (const [index, message] of history.entries()) {
    const param = `messages[${index}]`;
    switch (message.role) {
      case 'system':
      case 'developer': {
        const blocks = chatContentToBlocks(message.content, `${param}.content`).map((block) =>
          assertTextBlock(block, `${param}.content`),
        );
        if (messages.length === 0) system.push(...blocks);
        else if (blocks.length > 0) messages.push({ role: 'system', content: simplifyContent(blocks) });
        // Later results must not move before this message.
        results = undefined;
        break;
      }
      case 'user': {
        const blocks = chatContentToBlocks(message.content, `${param}.content`);
        if (results) results.push(...blocks);
        else if (blocks.length > 0) messages.push({ role: 'user', content: simplifyContent(blocks) });
        results = undefined;
        break;
      }
      case 'assistant': {
        const blocks = translateAssistantMessage(message, param);
        if (blocks.length > 0) messages.push({ role: 'assistant', content: simplifyContent(blocks) });
        results = undefined;
        break;
      }
      case 'tool': {
        if (!results) {
          results = [];
          messages.push({ role: 'user', content: results });
        }
        const content = simplifyContent(chatContentToBlocks(message.content, `${param}.content`));
        results.push({ type: 'tool_result', tool_use_id: toMessagesToolId(message.tool_call_id), content });
      }
    }
  }
  return { system, messages };
}

function translateAssistantMessage(message: ChatMessage & { role: 'assistant' }, param: string): MessagesBlock[] {
  if (message['function_call'] !== undefined && message['function_call'] !== null) {
    throw createUnsupportedChatError(`${param}.function_call`, 'the older form of tool calls');
  }
  const calls = (message.tool_calls ?? []).map((call, index) => toToolUse(call, `${param}.tool_calls[${index}]`));
  const blocks = appendRefusal(chatContentToBlocks(message.content, `${param}.content`), message['refusal']);
  return [...blocks, ...calls];
}

function toToolUse(call: ChatToolCall | ChatCustomCall, param: string): MessagesBlock {
  if (call.type !== 'function') throw createUnsupportedChatError(`${param}.type`, `tool calls of type '${call.type}'`);
  const { id, function: fn } = call;
  return { type: 'tool_use', id: toMessagesToolId(id), name: fn.name, input: parseToolInput(fn.arguments) };
}
