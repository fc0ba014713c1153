import type { JsonObject } from '#shared/core/json.ts';
import type { MessagesTool } from '#shared/formats/messages/request.ts';
import type { ResponsesRequest } from '#shared/formats/responses/request.ts';
import { flattenToolChoice } from '../responses/flatten-tool-choice.ts';
import type { FlatTool, FlatTools } from '../responses/flatten-tools.ts';
import { refuseServerTools } from '../responses/refuse-server-tools.ts';
import type { ModelTraits } from '../translation.ts';
import { toMessagesToolChoice } from '../vocabulary/tool-choice.ts';
import { isWebSearch, toWebSearchTool } from './web-search-tool.ts';

/**
 * Translates the tools and the tool choice of a request to the `messages` format. Omits the choice if there are no tools, because the
 * format refuses a choice without tools.
 * @throws RouterError `unsupported_parameter` for tools that the upstream does not run, or a choice of a tool that runs on the server
 */
export function responsesToolsToMessages(
  request: ResponsesRequest,
  flatTools: FlatTools,
  { searches }: Pick<ModelTraits, 'searches'>,
): JsonObject {
  const { tools, serverTools } = flatTools;
  const search = searches === true ? serverTools.find(isWebSearch) : undefined;
  refuseServerTools({ tools, serverTools: serverTools.filter((tool) => tool !== search) });
  const { tool_choice: choice, parallel_tool_calls: parallel } = request;
  if (tools.length === 0 && !search) return {};
  const { choice: translated, allowed } = toMessagesToolChoice(flattenToolChoice(choice, flatTools));
  const functions = tools.filter(({ name }) => allowed?.has(name) ?? true).map(translateTool);
  const offered = search ? [...functions, toWebSearchTool(search)] : functions;
  const allowsOneCall = parallel === false && translated.type !== 'none';
  if ((choice === undefined || choice === null) && !allowsOneCall) return { tools: offered };
  return {
    tools: offered,
    tool_choice: allowsOneCall ? { ...translated, disable_parallel_tool_use: true } : translated,
  };
}

function translateTool({ name, description, parameters, strict }: FlatTool): MessagesTool {
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: parameters,
    ...(strict === true && { strict }),
  };
}
