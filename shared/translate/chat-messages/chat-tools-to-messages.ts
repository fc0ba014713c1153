import type { JsonObject } from '#shared/core/json.ts';
import type { ChatCustomTool, ChatRequest, ChatTool } from '#shared/formats/chat/request.ts';
import type { MessagesTool } from '#shared/formats/messages/request.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { toMessagesToolChoice } from '../vocabulary/tool-choice.ts';

/**
 * Translates the tools and the tool choice of a chat request to the `messages` format. Omits the choice if there are no tools, because the
 * format refuses a choice without tools.
 * @throws RouterError `unsupported_parameter` for tools that only chat upstreams have
 */
export function chatToolsToMessages(request: ChatRequest): JsonObject {
  const { tools, tool_choice: choice, parallel_tool_calls: parallel } = request;
  if (tools === undefined || tools === null || tools.length === 0) return {};
  const { choice: translated, allowed } = toMessagesToolChoice(choice ?? 'auto');
  const offered = tools.map(translateTool).filter(({ name }) => allowed?.has(name) ?? true);
  const allowsOneCall = parallel === false && translated.type !== 'none';
  if ((choice === undefined || choice === null) && !allowsOneCall) return { tools: offered };
  return {
    tools: offered,
    tool_choice: allowsOneCall ? { ...translated, disable_parallel_tool_use: true } : translated,
  };
}

function translateTool(tool: ChatTool | ChatCustomTool, index: number): MessagesTool {
  if (tool.type !== 'function')
    throw createUnsupportedChatError(`tools[${index}].type`, `tools of type '${tool.type}'`);
  const { name, description, parameters, strict } = tool.function;
  const { cache_control: cacheControl } = tool;
  return {
    name,
    ...(typeof description === 'string' && { description }),
    input_schema: parameters ?? { type: 'object', properties: {} },
    ...(strict === true && { strict }),
    ...(cacheControl !== undefined && { cache_control: cacheControl }),
  };
}
