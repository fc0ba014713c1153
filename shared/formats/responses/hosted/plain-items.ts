import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { writeResultsText } from '../../hosted/hosted-outcome.ts';
import type { ResponsesItem } from '../request.ts';
import { mcpFunctionName, searchFunctionName } from './hosted-functions.ts';

/**
 * Replaces searches and MCP calls of earlier answers by function calls with their outputs. For a search that another upstream has run, the
 * output contains no more than the addresses of the pages.
 * @param outputs outputs of the calls that the client has approved in this request, by the id of the approval request
 */
export function withFunctionCalls(
  items: readonly ResponsesItem[],
  outputs: ReadonlyMap<string, string>,
): ResponsesItem[] {
  return withFunctionCallsAt(items, outputs).map(([, item]) => item);
}

/** The outputs for a request in which the client has approved no call. */
const noOutputs: ReadonlyMap<string, string> = new Map();

/**
 * Whether the item of a hosted call contains the outcome of the call, or waits for approval. This holds for all items of MCP calls and for
 * searches that the router has run. For a search that another upstream has run, only the message after the item has the results.
 */
export function hasOutcome(item: ResponsesItem): boolean {
  return item.type === 'web_search_call' ? Array.isArray((item as JsonObject)['results']) : true;
}

/** Whether an item belongs to a hosted call that the router has run. Upstreams refuse items that they have not written. */
export function isOwnHostedItem(item: ResponsesItem): boolean {
  const { id, approval_request_id: approvalId } = item as JsonObject;
  const known = item.type === 'mcp_approval_response' ? approvalId : id;
  return typeof known === 'string' && /^[a-z]+_rtr_/.test(known);
}

/**
 * Works like `withFunctionCalls`, and returns each item with the position of its source item.
 * @param takes selects the items of hosted calls that become function calls; other items stay
 */
export function withFunctionCallsAt(
  items: readonly ResponsesItem[],
  outputs = noOutputs,
  takes: (item: ResponsesItem) => boolean = () => true,
): [number, ResponsesItem][] {
  const fields = items as readonly JsonObject[];
  const ran = new Set(fields.map(({ approval_request_id: id, type }) => (type === 'mcp_call' ? id : undefined)));
  const responses = new Map(
    fields.flatMap((item) =>
      item['type'] === 'mcp_approval_response' ? [[item['approval_request_id'], item] as const] : [],
    ),
  );
  const plain = (item: ResponsesItem): ResponsesItem[] => {
    const call = item as JsonObject;
    const { id } = call;
    if (!takes(item)) return [item];
    switch (item.type) {
      case 'web_search_call':
        return pair(id, searchFunctionName, JSON.stringify(searchInput(call['action'])), searchOutput(call));
      case 'mcp_call':
        return pair(id, nameOf(call), textOf(call['arguments']), mcpOutput(call));
      case 'mcp_approval_request': {
        if (ran.has(id)) return [];
        const output = outputs.get(textOf(id)) ?? refusal(responses.get(id));
        return pair(id, nameOf(call), textOf(call['arguments']), output);
      }
      case 'mcp_list_tools':
      case 'mcp_approval_response':
        return [];
      default:
        return [item];
    }
  };
  return items.flatMap((item, at) => plain(item).map((each): [number, ResponsesItem] => [at, each]));
}

function pair(id: Json | undefined, name: string, args: string, output: string): ResponsesItem[] {
  const callId = textOf(id);
  return [
    { type: 'function_call', call_id: callId, name, arguments: args === '' ? '{}' : args },
    { type: 'function_call_output', call_id: callId, output },
  ];
}

function nameOf({ server_label: label, name }: JsonObject): string {
  return mcpFunctionName(textOf(label), textOf(name));
}

function searchInput(action: Json | undefined): JsonObject {
  const { query, queries, url } = isJsonObject(action) ? action : {};
  return { query: textOf(query) || (Array.isArray(queries) ? queries.map(textOf).join('; ') : textOf(url)) };
}

function searchOutput({ status, results, action }: JsonObject): string {
  if (Array.isArray(results)) {
    return writeResultsText(
      results.flatMap((each) =>
        isJsonObject(each)
          ? [{ title: textOf(each['title']), url: textOf(each['url']), text: textOf(each['text']), age: undefined }]
          : [],
      ),
    );
  }
  if (status === 'failed') return 'Error: the search failed.';
  const sources = isJsonObject(action) && Array.isArray(action['sources']) ? action['sources'] : [];
  const urls = sources.flatMap((source) => (isJsonObject(source) ? [textOf(source['url'])] : []));
  return urls.length > 0 ? urls.join('\n') : 'The next message has what was found.';
}

function mcpOutput({ output, error }: JsonObject): string {
  if (error === undefined || error === null) return textOf(output);
  return `Error: ${typeof error === 'string' ? error : JSON.stringify(error)}`;
}

function refusal(response: JsonObject | undefined): string {
  if (!response) return 'The user has not approved this call.';
  const reason = textOf(response['reason']);
  return reason === '' ? 'The user has refused this call.' : `The user has refused this call: ${reason}`;
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
