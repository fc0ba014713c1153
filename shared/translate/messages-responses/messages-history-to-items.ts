import { isHostedName, isHostedResult, readHostedResultText } from '#shared/formats/messages/hosted/hosted-block.ts';
import type { MessagesBlock, MessagesMessage, ToolResultBlock } from '#shared/formats/messages/request.ts';
import type { ResponsesItem, ResponsesPart } from '#shared/formats/responses/request.ts';
import { isToolChange } from '../context/offered-tools.ts';
import type { ModelTraits } from '../translation.ts';
import { createUnsupportedMessagesError } from '../unsupported.ts';
import { readReasoningSignature } from '../vocabulary/reasoning-signature.ts';
import { writeToolArguments } from '../vocabulary/tool-call.ts';
import { blockToParts } from './block-to-parts.ts';

/**
 * Translates a `messages` history to items, block by block. Thinking that the same model of the same upstream has encrypted becomes a
 * reasoning item again. Any other thinking is omitted. Web searches and fetches become function calls with their outputs.
 * @throws RouterError `unsupported_parameter` that names a part the Responses format does not have
 */
export function messagesHistoryToItems(messages: readonly MessagesMessage[], traits: ModelTraits): ResponsesItem[] {
  return messages.flatMap(({ role, content }, index): ResponsesItem[] => {
    if (typeof content === 'string') return [{ type: 'message', role, content }];
    const param = `messages.${index}.content`;
    if (role !== 'assistant') return translateTurn(role, content, param);
    return translateAssistantTurn(content, param, traits);
  });
}

/** Translates a user or system turn. Consecutive blocks other than tool results become one message. */
function translateTurn(role: 'user' | 'system', content: readonly MessagesBlock[], param: string): ResponsesItem[] {
  const items: ResponsesItem[] = [];
  let parts: ResponsesPart[] | undefined;
  for (const [index, block] of content.entries()) {
    if (role === 'system' && isToolChange(block)) continue;
    if (block.type === 'tool_result') {
      items.push({
        type: 'function_call_output',
        call_id: block.tool_use_id,
        output: translateOutput(block, `${param}.${index}`),
      });
      parts = undefined;
      continue;
    }
    if (!parts) {
      parts = [];
      items.push({ type: 'message', role, content: parts });
    }
    parts.push(...blockToParts(block, `${param}.${index}`));
  }
  return items;
}

/** Translates the content of a tool result. Content of texts alone becomes one text; content with an image or a document becomes a list. */
function translateOutput({ content, is_error: isError }: ToolResultBlock, param: string): string | ResponsesPart[] {
  const prefix = isError === true ? 'Error: ' : '';
  if (typeof content === 'string') return prefix + content;
  const parts = (content ?? []).flatMap((inner, index) => blockToParts(inner, `${param}.content.${index}`));
  const texts = parts.flatMap((part) => (part.type === 'input_text' ? [part.text] : []));
  if (texts.length === parts.length) return prefix + texts.join('\n\n');
  return prefix === '' ? parts : [{ type: 'input_text', text: prefix }, ...parts];
}

function translateAssistantTurn(
  content: readonly MessagesBlock[],
  param: string,
  traits: ModelTraits,
): ResponsesItem[] {
  const answeredIds = new Set(content.flatMap((block) => (isHostedResult(block) ? [block.tool_use_id] : [])));
  const items: ResponsesItem[] = [];
  let parts: ResponsesPart[] | undefined;
  for (const [index, block] of content.entries()) {
    // A call that was cut off has no result, and upstreams refuse such a call.
    if (block.type === 'server_tool_use' && isHostedName(block.name) && !answeredIds.has(block.id)) continue;
    if (block.type === 'text') {
      if (!parts) {
        parts = [];
        items.push({ type: 'message', role: 'assistant', content: parts });
      }
      parts.push({ type: 'output_text', text: block.text });
      continue;
    }
    parts = undefined;
    items.push(...translateAssistantBlock(block, `${param}.${index}`, traits));
  }
  return items;
}

function translateAssistantBlock(block: MessagesBlock, param: string, { model, origin }: ModelTraits): ResponsesItem[] {
  switch (block.type) {
    case 'web_search_tool_result':
    case 'web_fetch_tool_result':
      return [{ type: 'function_call_output', call_id: block.tool_use_id, output: readHostedResultText(block) }];
    case 'server_tool_use':
    case 'tool_use': {
      const { type, id, name, input } = block;
      if (type === 'server_tool_use' && !isHostedName(name))
        throw createUnsupportedMessagesError(`${param}.type`, `calls of ${name} in an assistant message`);
      return [{ type: 'function_call', call_id: id, name, arguments: writeToolArguments(input) }];
    }
    case 'thinking': {
      const sealed = readReasoningSignature(block.signature);
      if (sealed?.model !== model || (sealed.origin !== undefined && sealed.origin !== origin)) return [];
      const summary = block.thinking === '' ? [] : [{ type: 'summary_text' as const, text: block.thinking }];
      return [
        {
          type: 'reasoning',
          ...(sealed.id !== undefined && { id: sealed.id }),
          summary,
          encrypted_content: sealed.encrypted,
        },
      ];
    }
    case 'redacted_thinking':
      return [];
    default:
      throw createUnsupportedMessagesError(`${param}.type`, `content of type '${block.type}' in an assistant message`);
  }
}
