import { type JsonObject, isJsonObject, type Json } from '#shared/core/json.ts';
import type { MessagesTool } from '#shared/formats/messages/request.ts';
import type { ResponsesRequest } from '#shared/formats/responses/request.ts';
import { flattenToolChoice, type FlatTool, type FlatTools, type ServerTool } from '../responses/flatten-tools.ts';
import { refuseServerTools } from '../responses/refuse-server-tools.ts';
import type { ModelTraits } from '../translation.ts';
import { toMessagesToolChoice } from '../vocabulary/tool-choice.ts';

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

/** Whether a tool of a Responses request searches the web itself, and not just the cache of its vendor. */
function isWebSearch({ tool }: ServerTool): boolean {
  return tool.type.startsWith('web_search') && tool['external_web_access'] !== false;
}

/**
 * Translates the web search tool of a Responses request to the web search tool of `messages` upstreams (Anthropic API guide, "Web search
 * tool").
 */
function toWebSearchTool({ tool }: ServerTool): MessagesTool {
  const { filters, user_location: location } = tool;
  const domains = isJsonObject(filters) ? filters['allowed_domains'] : undefined;
  return {
    type: 'web_search_20250305',
    name: 'web_search',
    ...(Array.isArray(domains) && domains.length > 0 && { allowed_domains: domains }),
    ...(isJsonObject(location) && { user_location: omitNulls({ type: 'approximate', ...location }) }),
  };
}

function omitNulls(fields: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
