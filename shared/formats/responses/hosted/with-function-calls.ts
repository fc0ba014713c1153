import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import { writeResultsText } from '../../hosted/hosted-outcome.ts';
import type { ResponsesItem } from '../request.ts';
import { toMcpFunctionName, searchFunctionName } from './hosted-functions.ts';

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
  const callId = item.type === 'mcp_approval_response' ? approvalId : id;
  return typeof callId === 'string' && /^[a-z]+_rtr_/.test(callId);
}

/**
 * Works like `withFunctionCalls`, and returns each item with the position of its source item.
 * @param isReplaced selects the items of hosted calls that become function calls; other items stay
 */
export function withFunctionCallsAt(
  items: readonly ResponsesItem[],
  outputs = noOutputs,
  isReplaced: (item: ResponsesItem) => boolean = () => true,
): [number, ResponsesItem][] {
  const fields = items as readonly JsonObject[];
  const finishedIds = new Set(
    fields.map(({ approval_request_id: id, type }) => (type === 'mcp_call' ? id : undefined)),
  );
  const responses = new Map(
    fields.flatMap((item) =>
      item['type'] === 'mcp_approval_response' ? [[item['approval_request_id'], item] as const] : [],
    ),
  );
  const replaceItem = (item: ResponsesItem): ResponsesItem[] => {
    const call = item as JsonObject;
    const { id } = call;
    if (!isReplaced(item)) return [item];
    switch (item.type) {
      case 'web_search_call':
        return createCallWithOutput(
          id,
          searchFunctionName,
          JSON.stringify(readSearchInput(call['action'])),
          writeSearchOutput(call),
        );
      case 'mcp_call':
        return createCallWithOutput(id, toFunctionName(call), textOrEmpty(call['arguments']), writeMcpOutput(call));
      case 'mcp_approval_request': {
        if (finishedIds.has(id)) return [];
        const output = outputs.get(textOrEmpty(id)) ?? writeRefusal(responses.get(id));
        return createCallWithOutput(id, toFunctionName(call), textOrEmpty(call['arguments']), output);
      }
      case 'mcp_list_tools':
      case 'mcp_approval_response':
        return [];
      default:
        return [item];
    }
  };
  return items.flatMap((item, at) => replaceItem(item).map((each): [number, ResponsesItem] => [at, each]));
}

function createCallWithOutput(id: Json | undefined, name: string, args: string, output: string): ResponsesItem[] {
  const callId = textOrEmpty(id);
  return [
    { type: 'function_call', call_id: callId, name, arguments: args === '' ? '{}' : args },
    { type: 'function_call_output', call_id: callId, output },
  ];
}

function toFunctionName({ server_label: label, name }: JsonObject): string {
  return toMcpFunctionName(textOrEmpty(label), textOrEmpty(name));
}

function readSearchInput(action: Json | undefined): JsonObject {
  const { query, queries, url } = isJsonObject(action) ? action : {};
  return {
    query: textOrEmpty(query) || (Array.isArray(queries) ? queries.map(textOrEmpty).join('; ') : textOrEmpty(url)),
  };
}

function writeSearchOutput({ status, results, action }: JsonObject): string {
  if (Array.isArray(results)) {
    return writeResultsText(
      results.flatMap((each) =>
        isJsonObject(each)
          ? [
              {
                title: textOrEmpty(each['title']),
                url: textOrEmpty(each['url']),
                text: textOrEmpty(each['text']),
                age: undefined,
              },
            ]
          : [],
      ),
    );
  }
  if (status === 'failed') return 'Error: the search failed.';
  const sources = isJsonObject(action) && Array.isArray(action['sources']) ? action['sources'] : [];
  const urls = sources.flatMap((source) => (isJsonObject(source) ? [textOrEmpty(source['url'])] : []));
  return urls.length > 0 ? urls.join('\n') : 'The next message has what was found.';
}

function writeMcpOutput({ output, error }: JsonObject): string {
  if (error === undefined || error === null) return textOrEmpty(output);
  return `Error: ${typeof error === 'string' ? error : JSON.stringify(error)}`;
}

function writeRefusal(response: JsonObject | undefined): string {
  if (!response) return 'The user has not approved this call.';
  const reason = textOrEmpty(response['reason']);
  return reason === '' ? 'The user has refused this call.' : `The user has refused this call: ${reason}`;
}

function textOrEmpty(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
