import type { JsonObject } from '#shared/core/json.ts';
import type { ChatTool } from '#shared/formats/chat/request.ts';
import { describeClientTool } from '#shared/formats/messages/client-tools.ts';
import type { MessagesRequest, MessagesTool } from '#shared/formats/messages/request.ts';
import { createUnsupportedMessagesError } from '../unsupported.ts';
import { resolveOfferedTools } from '../context/offered-tools.ts';
import { toChatToolChoice } from '../vocabulary/tool-choice.ts';

/**
 * Translates the offered tools and the tool choice of a `messages` request to the chat format. Omits the fields for caching.
 * @throws RouterError `unsupported_parameter` for tools that run on the upstream
 */
export function messagesToolsToChat(request: MessagesRequest): JsonObject {
  const { tool_choice: choice } = request;
  const tools = resolveOfferedTools(request);
  if (tools.length === 0) return {};
  return {
    tools: tools.map((tool) => translateTool(tool, request.tools?.indexOf(tool) ?? 0)),
    ...(choice !== undefined && choice !== null && { tool_choice: toChatToolChoice(choice) }),
    ...(choice?.disable_parallel_tool_use === true && { parallel_tool_calls: false }),
  };
}

function translateTool(tool: MessagesTool, index: number): ChatTool {
  const { type, name, description, input_schema: schema, strict } = describeClientTool(tool);
  if (type !== undefined && type !== null && type !== 'custom') {
    throw createUnsupportedMessagesError(`tools.${index}.type`, `tools of type '${type}', which run on the upstream`);
  }
  const { $schema: _, ...parameters }: JsonObject = schema ?? { type: 'object', properties: {} };
  return {
    type: 'function',
    function: {
      name,
      ...(typeof description === 'string' && { description }),
      parameters,
      ...(strict === true && { strict }),
    },
  };
}
