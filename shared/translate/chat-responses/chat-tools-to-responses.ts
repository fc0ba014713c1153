import type { JsonObject } from '#shared/core/json.ts';
import type { ChatCustomTool, ChatRequest, ChatTool, ChatToolChoice } from '#shared/formats/chat/request.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import { flattenCustomFormat } from '../vocabulary/custom-tools.ts';

/**
 * Translates the tools and the tool choice of a chat request. Both are flat in the Responses format.
 * @throws RouterError `unsupported_parameter` for tools other than functions and custom tools
 */
export function chatToolsToResponses({ tools, tool_choice: choice }: ChatRequest): JsonObject {
  if (tools === undefined || tools === null || tools.length === 0) return {};
  return {
    tools: tools.map(flattenTool),
    ...(choice !== undefined && choice !== null && { tool_choice: flattenChoice(choice) }),
  };
}

function flattenTool(tool: ChatTool | ChatCustomTool, index: number): JsonObject {
  const type: string = tool.type;
  if (tool.type === 'custom') return flattenCustomTool(tool);
  if (type !== 'function') throw createUnsupportedChatError(`tools[${index}].type`, `tools of type '${type}'`);
  const { name, description, parameters, strict } = tool.function;
  return {
    type: 'function',
    name,
    ...(typeof description === 'string' && { description }),
    parameters: parameters ?? { type: 'object', properties: {} },
    // Without this field, the Responses format is strict, but the chat format is not.
    strict: strict ?? false,
  };
}

function flattenCustomTool(tool: ChatCustomTool): JsonObject {
  const { name, description } = tool.custom;
  const format = flattenCustomFormat(tool);
  return {
    type: 'custom',
    name,
    ...(typeof description === 'string' && { description }),
    ...(format && { format }),
  };
}

function flattenChoice(choice: ChatToolChoice): string | JsonObject {
  if (typeof choice === 'string') return choice;
  switch (choice.type) {
    case 'function':
    case 'custom':
      return toNamedTool(choice);
    case 'allowed_tools': {
      const { mode, tools } = (choice['allowed_tools'] ?? choice) as { mode?: string; tools?: JsonObject[] };
      return { type: 'allowed_tools', mode: mode ?? 'auto', tools: (tools ?? []).map(toNamedTool) };
    }
    default:
      throw createUnsupportedChatError('tool_choice.type', `a choice of type '${choice.type}'`);
  }
}

function toNamedTool(tool: JsonObject): JsonObject {
  const { function: fn, custom } = tool as { function?: { name?: string }; custom?: { name?: string } };
  return custom ? { type: 'custom', name: custom.name ?? '' } : { type: 'function', name: fn?.name ?? '' };
}
