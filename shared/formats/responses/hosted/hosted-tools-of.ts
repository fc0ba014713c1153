import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { domainFilter } from '../../hosted/domain-filter.ts';
import type { HostedTool } from '../../hosted/hosted-request.ts';
import { toolHints } from '../../hosted/tool-hints.ts';
import type { ResponsesRequest, ResponsesTool } from '../request.ts';
import { offeredTools } from './offered-tools.ts';

/** The types of web search, with and without a date (OpenAI API reference, "Create a model response"). */
const webSearch = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/;

/** Whether a tool searches the web. One that may only search a cache of its vendor does not: Codex offers it in every request. */
export function isWebSearch(tool: ResponsesTool): boolean {
  return webSearch.test(tool.type) && (tool as JsonObject)['external_web_access'] !== false;
}

/** Types of tools that the client runs. */
const clientTools: ReadonlySet<string> = new Set(['function', 'custom', 'namespace', 'tool_search']);

/** The tools of a request that the router may run, in its order, those that items of the input add among them. */
export function hostedToolsOf(request: ResponsesRequest): HostedTool[] {
  const offered = offeredTools(request);
  // Codex offers a web search in every request where it may use the network.
  const hasOwn = offered.some(({ tool }) => clientTools.has(tool.type));
  return offered.flatMap(({ tool, param }): HostedTool[] => {
    const fields = tool as JsonObject;
    const common = { title: tool.type, param: `${param}.type` };
    if (tool.type === 'mcp') {
      const label = typeof fields['server_label'] === 'string' ? fields['server_label'] : '';
      return [{ ...common, kind: 'mcp', label, allowsTool: toolFilter(fields['allowed_tools']) }];
    }
    if (!isWebSearch(tool)) return [];
    const filters = isJsonObject(fields['filters']) ? fields['filters'] : {};
    const allowsUrl = domainFilter(filters['allowed_domains'], filters['blocked_domains']);
    const hints = toolHints({ ...filters, user_location: fields['user_location'] });
    return [{ ...common, kind: 'web_search', isOptional: hasOwn, allowsUrl, hints }];
  });
}

/** A list of names, or an object with one. Which tools only read is not known here, so a filter for those allows none. */
function toolFilter(allowed: Json | undefined): ((name: string) => boolean) | undefined {
  if (isForReading(allowed)) return () => false;
  const names = namesIn(allowed);
  return names && ((name) => names.includes(name));
}

/**
 * Whether a call of a tool of an MCP server waits for the client's approval. As in the format, it does unless the request says
 * otherwise.
 */
export function needsApproval(tool: JsonObject, name: string): boolean {
  const { require_approval: rule } = tool;
  if (rule === 'never') return false;
  if (!isJsonObject(rule)) return true;
  // Which tools only read is not known here: a filter for those spares no tool, and any may be meant by one that asks for approval.
  if (isForReading(rule['always'])) return true;
  const [always, never] = [namesIn(rule['always']), isForReading(rule['never']) ? [] : namesIn(rule['never'])];
  if (never?.includes(name) === true) return false;
  return always === undefined || never !== undefined || always.includes(name);
}

function isForReading(filter: Json | undefined): boolean {
  return isJsonObject(filter) && filter['read_only'] === true;
}

function namesIn(list: Json | undefined): string[] | undefined {
  const names = isJsonObject(list) ? list['tool_names'] : list;
  return Array.isArray(names) ? names.filter((name): name is string => typeof name === 'string') : undefined;
}
