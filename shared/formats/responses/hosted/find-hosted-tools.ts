import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { createDomainFilter, pickToolHints } from '../../hosted/domain-filter.ts';
import type { HostedTool } from '../../hosted/hosted-request.ts';
import type { ResponsesRequest, ResponsesTool } from '../request.ts';
import { listRequestTools } from './request-tools.ts';

/** Matches the types of web search, with and without a date (OpenAI API reference, "Create a model response"). */
const webSearchType = /^web_search(?:_preview)?(?:_\d{4}_\d{2}_\d{2})?$/;

/** Whether a tool searches the web. A search that only reads the vendor's cache does not count, because every request of Codex has one. */
export function isWebSearch(tool: ResponsesTool): boolean {
  return webSearchType.test(tool.type) && (tool as JsonObject)['external_web_access'] !== false;
}

const clientTools: ReadonlySet<string> = new Set(['function', 'custom', 'namespace', 'tool_search']);

/** Finds the tools of a request that the router may run, in order. Includes tools that input items add. */
export function findHostedTools(request: ResponsesRequest): HostedTool[] {
  const requestTools = listRequestTools(request);
  // If Codex may use the network, every request of Codex has a web search. In a request with tools of the client, the search is therefore
  // optional.
  const hasClientTools = requestTools.some(({ tool }) => clientTools.has(tool.type));
  return requestTools.flatMap(({ tool, param }): HostedTool[] => {
    const fields = tool as JsonObject;
    const common = { title: tool.type, param: `${param}.type` };
    if (tool.type === 'mcp') {
      const label = typeof fields['server_label'] === 'string' ? fields['server_label'] : '';
      return [{ ...common, kind: 'mcp', label, allowsTool: createToolFilter(fields['allowed_tools']) }];
    }
    if (!isWebSearch(tool)) return [];
    const filters = isJsonObject(fields['filters']) ? fields['filters'] : {};
    const allowsUrl = createDomainFilter(filters['allowed_domains'], filters['blocked_domains']);
    const hints = pickToolHints({ ...filters, user_location: fields['user_location'] });
    return [{ ...common, kind: 'web_search', isOptional: hasClientTools, allowsUrl, hints }];
  });
}

/**
 * Creates the filter for a list of tool names, or for an object with such a list; undefined if there is no list. A filter for read-only
 * tools allows no tool, because the router cannot tell which tools are read-only.
 */
function createToolFilter(allowed: Json | undefined): ((name: string) => boolean) | undefined {
  if (isReadOnlyFilter(allowed)) return () => false;
  const names = readNames(allowed);
  return names && ((name) => names.includes(name));
}

/** Whether a call of an MCP server's tool needs the client's approval. By default every call does, as in OpenAI's API. */
export function needsApproval(tool: JsonObject, name: string): boolean {
  const { require_approval: rule } = tool;
  if (rule === 'never') return false;
  if (!isJsonObject(rule)) return true;
  // The router cannot tell which tools are read-only. Under `always`, a filter for read-only tools therefore covers all tools. Under
  // `never`, it covers no tool.
  if (isReadOnlyFilter(rule['always'])) return true;
  const [always, never] = [readNames(rule['always']), isReadOnlyFilter(rule['never']) ? [] : readNames(rule['never'])];
  if (never?.includes(name) === true) return false;
  return always === undefined || never !== undefined || always.includes(name);
}

function isReadOnlyFilter(filter: Json | undefined): boolean {
  return isJsonObject(filter) && filter['read_only'] === true;
}

function readNames(list: Json | undefined): string[] | undefined {
  const names = isJsonObject(list) ? list['tool_names'] : list;
  return Array.isArray(names) ? names.filter((name): name is string => typeof name === 'string') : undefined;
}
