import type { JsonObject } from '#shared/core/json.ts';
import type { ChatRequest, ChatTool, ChatToolChoice } from '#shared/formats/chat/request.ts';
import { unsupportedInChat } from '../unsupported.ts';

/**
 * Translates the tools and the tool choice of a chat request: both are flat in the Responses format.
 * @throws RouterError `unsupported_parameter` for tools other than functions
 */
export function chatToolsToResponses({ tools, tool_choice: choice }: ChatRequest): JsonObject {
  if (tools === undefined || tools === null || tools.length === 0) return {};
  return {
    tools: tools.map(flatTool),
    ...(choice !== undefined && choice !== null && { tool_choice: flatChoice(choice) }),
  };
}

function flatTool(tool: ChatTool, at: number): JsonObject {
  const type: string = tool.type;
  if (type !== 'function') throw unsupportedInChat(`tools[${at}].type`, `tools of type '${type}'`);
  const { name, description, parameters, strict } = tool.function;
  return {
    type: 'function',
    name,
    ...(typeof description === 'string' && { description }),
    parameters: parameters ?? { type: 'object', properties: {} },
    // Without it, this format is strict where the chat format is not.
    strict: strict ?? false,
  };
}

function flatChoice(choice: ChatToolChoice): string | JsonObject {
  if (typeof choice === 'string') return choice;
  switch (choice.type) {
    case 'function':
      return { type: 'function', name: nameIn(choice) };
    case 'allowed_tools': {
      const { mode, tools } = (choice['allowed_tools'] ?? choice) as { mode?: string; tools?: JsonObject[] };
      const allowed = (tools ?? []).map((tool) => ({ type: 'function', name: nameIn(tool) }));
      return { type: 'allowed_tools', mode: mode ?? 'auto', tools: allowed };
    }
    default:
      throw unsupportedInChat('tool_choice.type', `a choice of type '${choice.type}'`);
  }
}

function nameIn(tool: JsonObject): string {
  return (tool as { function?: { name?: string } }).function?.name ?? '';
}
