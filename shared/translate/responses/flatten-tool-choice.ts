import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { ChatToolChoice } from '#shared/formats/chat/request.ts';
import type { ResponsesRequest } from '#shared/formats/responses/request.ts';
import { unsupportedInChat } from '../unsupported.ts';
import type { FlatTools } from './flatten-tools.ts';

/**
 * Returns the tool choice of a request in the chat format, with the flat names of the tools. Custom tools are functions there.
 * @throws RouterError `unsupported_parameter` for a choice of tools that run on the server
 */
export function flattenToolChoice(
  choice: ResponsesRequest['tool_choice'],
  { nameOf }: Pick<FlatTools, 'nameOf'>,
): ChatToolChoice {
  if (choice === undefined || choice === null) return 'auto';
  if (typeof choice === 'string') return choice as ChatToolChoice;
  if (choice.type !== 'allowed_tools') return flatFunction(choice, 'tool_choice', nameOf);
  const { mode, tools } = choice;
  const named = (Array.isArray(tools) ? tools : []).filter(isJsonObject);
  return {
    type: 'allowed_tools',
    allowed_tools: {
      mode: mode === 'required' ? 'required' : 'auto',
      tools: named.map((tool, at) => flatFunction(tool, `tool_choice.tools[${at}]`, nameOf)),
    },
  };
}

function flatFunction(tool: JsonObject, param: string, nameOf: FlatTools['nameOf']): JsonObject & { type: 'function' } {
  const { type, name, namespace } = tool;
  if ((type !== 'function' && type !== 'custom') || typeof name !== 'string') {
    throw unsupportedInChat(`${param}.type`, `a choice of type ${JSON.stringify(type)}`);
  }
  const flat = nameOf(name, typeof namespace === 'string' ? namespace : undefined);
  return { type: 'function', function: { name: flat } };
}
