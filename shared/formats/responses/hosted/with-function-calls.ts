import { isJsonObject, toTextOrEmpty, type Json, type JsonObject } from '#shared/core/json.ts';
import { writeResultsText } from '../../hosted/hosted-outcome.ts';
import type { ResponsesItem } from '../request.ts';
import { toMcpFunctionName, searchFunctionName } from './hosted-functions.ts';

/**
 * Replaces searches and MCP calls of earlier answers with function calls and their outputs. For a search that another upstream has run, the
 * output contains at most the addresses of the pages.
 * @param outputs outputs of the calls that the client has approved in this request, by the id of the approval request
 */
export function replaceHostedItems(
  items: readonly ResponsesItem[],
  outputs: ReadonlyMap<string, string>,
): ResponsesItem[] {
  return replaceHostedItemsAt(items, outputs).map(([, item]) => item);
}

/** The outputs for a request in which the client has approved no call. */
const noOutputs: ReadonlyMap<string, string> = new Map();

/**
 * Whether the item of a hosted call contains the outcome of the call, or waits for approval. Returns true for all items of MCP calls, and
 * for searches that the router has run. The results of a search that another upstream has run are only in the message after its item.
 */
export function hasOutcome(item: ResponsesItem): boolean {
  return item.type === 'web_search_call' ? Array.isArray((item as JsonObject)['results']) : true;
}

/** Whether an item belongs to a hosted call that the router has run. An upstream refuses items that it has not written. */
export function isOwnHostedItem(item: ResponsesItem): boolean {
  const { id, approval_request_id: approvalId } = item as JsonObject;
  const callId = item.type === 'mcp_approval_response' ? approvalId : id;
  return typeof callId === 'string' && /^[a-z]+_rtr_/.test(callId);
}

/**
 * Replaces hosted calls like `replaceHostedItems`. Returns each item with the position of the item that it comes from.
 * @param isReplaced selects the items of hosted calls that become function calls; other items stay
 */
export function replaceHostedItemsAt(
  items: readonly ResponsesItem[],
  outputs = noOutputs,
  isReplaced: (item: ResponsesItem) => boolean = () => true,
): [number, ResponsesItem][] {
  const objects = items as readonly JsonObject[];
  const finishedIds = new Set(
    objects.map(({ approval_request_id: id, type }) => (type === 'mcp_call' ? id : undefined)),
  );
  const responses = new Map(
    objects.flatMap((item) =>
      item['type'] === 'mcp_approval_response' ? [[item['approval_request_id'], item] as const] : [],
    ),
  );
  const replacedIds = new Set<Json | undefined>();
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
        return createCallWithOutput(id, toFunctionName(call), toTextOrEmpty(call['arguments']), writeMcpOutput(call));
      case 'mcp_approval_request': {
        // A client that continues a stored answer may send its items once more.
        if (finishedIds.has(id) || replacedIds.has(id)) return [];
        replacedIds.add(id);
        const output = outputs.get(toTextOrEmpty(id)) ?? writeRefusal(responses.get(id));
        return createCallWithOutput(id, toFunctionName(call), toTextOrEmpty(call['arguments']), output);
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
  const callId = toTextOrEmpty(id);
  return [
    { type: 'function_call', call_id: callId, name, arguments: args === '' ? '{}' : args },
    { type: 'function_call_output', call_id: callId, output },
  ];
}

function toFunctionName({ server_label: label, name }: JsonObject): string {
  return toMcpFunctionName(toTextOrEmpty(label), toTextOrEmpty(name));
}

function readSearchInput(action: Json | undefined): JsonObject {
  const { query, queries, url } = isJsonObject(action) ? action : {};
  return {
    query:
      toTextOrEmpty(query) || (Array.isArray(queries) ? queries.map(toTextOrEmpty).join('; ') : toTextOrEmpty(url)),
  };
}

function writeSearchOutput({ status, results, action }: JsonObject): string {
  if (Array.isArray(results)) {
    return writeResultsText(
      results.flatMap((result) =>
        isJsonObject(result)
          ? [
              {
                title: toTextOrEmpty(result['title']),
                url: toTextOrEmpty(result['url']),
                text: toTextOrEmpty(result['text']),
                age: undefined,
              },
            ]
          : [],
      ),
    );
  }
  if (status === 'failed') return 'Error: the search failed.';
  const sources = isJsonObject(action) && Array.isArray(action['sources']) ? action['sources'] : [];
  const urls = sources.flatMap((source) => (isJsonObject(source) ? [toTextOrEmpty(source['url'])] : []));
  return urls.length > 0 ? urls.join('\n') : 'The next message contains the results.';
}

function writeMcpOutput({ output, error }: JsonObject): string {
  if (error === undefined || error === null) return toTextOrEmpty(output);
  return `Error: ${typeof error === 'string' ? error : JSON.stringify(error)}`;
}

function writeRefusal(response: JsonObject | undefined): string {
  if (!response) return 'The user has not approved this call.';
  const reason = toTextOrEmpty(response['reason']);
  return reason === '' ? 'The user has refused this call.' : `The user has refused this call: ${reason}`;
}
