import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { ChatToolChoice } from '#shared/formats/chat/request.ts';
import type { ResponsesRequest } from '#shared/formats/responses/request.ts';
import { createUnsupportedChatError } from '../unsupported.ts';
import type { FlatTools } from './flatten-tools.ts';

/**
 * Translates the tool choice of a request to the chat format, with the flat names of the tools. A custom tool becomes a function.
 * @throws RouterError `unsupported_parameter` for a choice of tools that run on the server
 */
export function flattenToolChoice(
  choice: ResponsesRequest['tool_choice'],
  { findFlatName }: Pick<FlatTools, 'findFlatName'>,
): ChatToolChoice {
  if (choice === undefined || choice === null) return 'auto';
  if (typeof choice === 'string') return choice as ChatToolChoice;
  if (choice.type !== 'allowed_tools') return toFlatFunction(choice, 'tool_choice', findFlatName);
  const { mode, tools } = choice;
  const allowedTools = (Array.isArray(tools) ? tools : []).filter(isJsonObject);
  return {
    type: 'allowed_tools',
    allowed_tools: {
      mode: mode === 'required' ? 'required' : 'auto',
      tools: allowedTools.map((tool, index) => toFlatFunction(tool, `tool_choice.tools[${index}]`, findFlatName)),
    },
  };
}

function toFlatFunction(
  tool: JsonObject,
  param: string,
  findFlatName: FlatTools['findFlatName'],
): JsonObject & { type: 'function' } {
  const { type, name, namespace } = tool;
  if ((type !== 'function' && type !== 'custom') || typeof name !== 'string') {
    throw createUnsupportedChatError(`${param}.type`, `a choice of type ${JSON.stringify(type)}`);
  }
  const flatName = findFlatName(name, typeof namespace === 'string' ? namespace : undefined);
  return { type: 'function', function: { name: flatName } };
}
