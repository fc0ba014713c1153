import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { ChatTool, ChatToolChoice } from '#shared/formats/chat/request.ts';
import type { ResponsesRequest } from '#shared/formats/responses/request.ts';
import { flattenToolChoice, type FlatTool, type FlatTools } from '../responses/flatten-tools.ts';
import { refuseServerTools } from '../responses/refuse-server-tools.ts';

/**
 * Translates the tools and the tool choice of a request to the chat format. Omits the choice if there are no tools, because engines refuse
 * a choice without tools. For the choice `allowed_tools`, offers only the allowed tools, because few engines support that choice.
 * @throws RouterError `unsupported_parameter` for tools that run on the server, or a choice of such a tool; `invalid_request` for a choice
 * of a missing tool
 */
export function responsesToolsToChat(request: ResponsesRequest, flatTools: FlatTools): JsonObject {
  const { tool_choice: toolChoice, parallel_tool_calls: parallel } = request;
  refuseServerTools(flatTools);
  const choice = flattenToolChoice(toolChoice, flatTools);
  const chosenNames = readChosenNames(choice);
  const unknownName = chosenNames?.find((name) => !flatTools.clientTools.has(name));
  if (unknownName !== undefined || (flatTools.tools.length === 0 && choice === 'required')) {
    const reason = unknownName === undefined ? 'it needs tools to choose from' : 'the request has no tool of this name';
    throw new RouterError('invalid_request', `Invalid value for 'tool_choice': ${reason}.`, { param: 'tool_choice' });
  }
  if (flatTools.tools.length === 0) return {};
  const limitsTools = isJsonObject(choice) && choice.type === 'allowed_tools';
  const offered = limitsTools ? flatTools.tools.filter(({ name }) => chosenNames?.includes(name)) : flatTools.tools;
  return {
    tools: offered.map(translateTool),
    ...(toolChoice !== undefined && toolChoice !== null && { tool_choice: limitsTools ? readMode(choice) : choice }),
    ...(parallel === false && { parallel_tool_calls: false }),
  };
}

function translateTool({ name, description, parameters, strict }: FlatTool): ChatTool {
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      parameters,
      ...(strict === true && { strict }),
    },
  };
}

function readChosenNames(choice: ChatToolChoice): string[] | undefined {
  if (typeof choice === 'string') return undefined;
  const { allowed_tools: allowed } = choice;
  const tools = isJsonObject(allowed) && Array.isArray(allowed['tools']) ? allowed['tools'] : [choice];
  return tools.map(readName);
}

function readName(tool: Json): string {
  const { function: fn } = tool as { function?: { name?: string } };
  return fn?.name ?? '';
}

function readMode({ allowed_tools: allowed }: JsonObject): Json {
  return (isJsonObject(allowed) ? allowed['mode'] : undefined) ?? 'auto';
}
