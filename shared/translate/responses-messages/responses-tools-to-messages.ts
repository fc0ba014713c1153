import type { JsonObject } from '#shared/core/json.ts';
import type { MessagesTool } from '#shared/formats/messages/request.ts';
import type { ResponsesRequest } from '#shared/formats/responses/request.ts';
import { flatToolChoice } from '../responses/flat-tool-choice.ts';
import type { FlatTool, FlatTools } from '../responses/flatten-tools.ts';
import { refuseHostedTools } from '../responses/refuse-hosted-tools.ts';
import { messagesToolChoice } from '../vocabulary/tool-choice.ts';

/**
 * Translates the tools and the tool choice of a request to the messages format, which refuses a choice without tools.
 * @throws RouterError `unsupported_parameter` for tools that run on the server, or a choice among them
 */
export function responsesToolsToMessages(request: ResponsesRequest, flat: FlatTools): JsonObject {
  const { tools } = flat;
  refuseHostedTools(flat);
  const { tool_choice: choice, parallel_tool_calls: parallel } = request;
  if (tools.length === 0) return {};
  const { choice: translated, allowed } = messagesToolChoice(flatToolChoice(choice, flat));
  const offered = tools.filter(({ name }) => allowed?.has(name) ?? true).map(translateTool);
  const onlyOne = parallel === false && translated.type !== 'none';
  if ((choice === undefined || choice === null) && !onlyOne) return { tools: offered };
  return { tools: offered, tool_choice: onlyOne ? { ...translated, disable_parallel_tool_use: true } : translated };
}

function translateTool({ name, description, parameters, strict }: FlatTool): MessagesTool {
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: parameters,
    ...(strict === true && { strict }),
  };
}
