import type { ChatContent, ChatCustomCall, ChatMessage, ChatPart, ChatToolCall } from '#shared/formats/chat/request.ts';
import type { ResponsesItem, ResponsesPart } from '#shared/formats/responses/request.ts';
import { createUnsupportedChatError } from '../unsupported.ts';

/**
 * Translates a chat's history to items. Every message keeps its position and role. Tool calls and tool results become separate items. Omits
 * thinking, because the upstream accepts only thinking that the upstream itself has encrypted.
 * @throws RouterError `unsupported_parameter` that names a part the Responses format does not have
 */
export function chatHistoryToItems(history: readonly ChatMessage[]): ResponsesItem[] {
  /** Ids of calls of custom tools. The results of these calls have another item type. */
  const customCallIds = new Set<unknown>();
  return history.flatMap((message, index): ResponsesItem[] => {
    const param = `messages[${index}]`;
    switch (message.role) {
      case 'assistant': {
        const items = translateAssistantMessage(message, param);
        for (const { type, call_id: id } of items) if (type === 'custom_tool_call') customCallIds.add(id);
        return items;
      }
      case 'tool': {
        const output = toContent(message.content, `${param}.content`, 'input_text');
        const type = customCallIds.has(message.tool_call_id) ? 'custom_tool_call_output' : 'function_call_output';
        return [{ type, call_id: message.tool_call_id, output }];
      }
      default: {
        const content = toContent(message.content, `${param}.content`, 'input_text');
        return [{ type: 'message', role: message.role, content }];
      }
    }
  });
}

function translateAssistantMessage(message: ChatMessage & { role: 'assistant' }, param: string): ResponsesItem[] {
  if (message['function_call'] !== undefined && message['function_call'] !== null) {
    throw createUnsupportedChatError(`${param}.function_call`, 'the older form of tool calls');
  }
  const calls = (message.tool_calls ?? []).map((call, index) => toCallItem(call, `${param}.tool_calls[${index}]`));
  const content = appendRefusal(
    toContent(message.content ?? '', `${param}.content`, 'output_text'),
    message['refusal'],
  );
  return content.length === 0 ? calls : [{ type: 'message', role: 'assistant', content }, ...calls];
}

function appendRefusal(content: string | ResponsesPart[], refusal: unknown): string | ResponsesPart[] {
  if (typeof refusal !== 'string' || refusal === '') return content;
  return [...toParts(content), { type: 'refusal', refusal }];
}

function toParts(content: string | ResponsesPart[]): ResponsesPart[] {
  if (typeof content !== 'string') return content;
  return content === '' ? [] : [{ type: 'output_text', text: content }];
}

function toCallItem(call: ChatToolCall | ChatCustomCall, param: string): ResponsesItem {
  const type: string = call.type;
  if (call.type === 'custom') {
    const { name, input } = call.custom;
    return { type: 'custom_tool_call', call_id: call.id, name, input };
  }
  if (type !== 'function') throw createUnsupportedChatError(`${param}.type`, `tool calls of type '${type}'`);
  const { id, function: fn } = call;
  return { type: 'function_call', call_id: id, name: fn.name, arguments: fn.arguments };
}

function toContent(
  content: ChatContent,
  param: string,
  textType: 'input_text' | 'output_text',
): string | ResponsesPart[] {
  if (typeof content === 'string') return content;
  return content.map((part, index) => toPart(part, `${param}[${index}]`, textType));
}

function toPart(part: ChatPart, param: string, textType: 'input_text' | 'output_text'): ResponsesPart {
  const { prompt_cache_breakpoint: mark } = part;
  const plain = toPlainPart(part, param, textType);
  return mark === undefined ? plain : { ...plain, prompt_cache_breakpoint: mark };
}

function toPlainPart(part: ChatPart, param: string, textType: 'input_text' | 'output_text'): ResponsesPart {
  switch (part.type) {
    case 'text':
      return { type: textType, text: part.text };
    case 'refusal':
      return { type: 'refusal', refusal: part.refusal };
    case 'image_url': {
      const { url, detail } = part.image_url;
      return { type: 'input_image', image_url: url, ...(typeof detail === 'string' && { detail }) };
    }
    case 'file': {
      const { file_data: data, file_id: id, filename } = part.file;
      return {
        type: 'input_file',
        ...(typeof data === 'string' && { file_data: data }),
        ...(typeof id === 'string' && { file_id: id }),
        ...(typeof filename === 'string' && { filename }),
      };
    }
    default:
      throw createUnsupportedChatError(`${param}.type`, `content of type '${part.type}'`);
  }
}
