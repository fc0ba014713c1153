import type { JsonObject } from '#shared/core/json.ts';
import type { HostedCall } from '../../hosted/hosted-request.ts';
import { isFailure, writeOutcomeText, type HostedOutcome } from '../../hosted/hosted-outcome.ts';

/** Item types of hosted calls, and the prefixes of their ids. */
const itemKinds = {
  web_search: { type: 'web_search_call', prefix: 'ws' },
  mcp: { type: 'mcp_call', prefix: 'mcp' },
} as const;

/** Creates the id of an item that the router adds. */
export function createItemId(
  kind: 'web_search' | 'mcp' | 'mcpl' | 'mcpr',
  answerIdPart: string,
  position: number,
): string {
  const prefix = kind === 'web_search' || kind === 'mcp' ? itemKinds[kind].prefix : kind;
  return `${prefix}_rtr_${answerIdPart}_${position}`;
}

/** Returns the item of a call that has begun (OpenAI API reference, "Web search tool call", "MCP call"). */
export function createInProgressItem({ id, hosted, servedTool, input }: HostedCall, args: string): JsonObject {
  if (hosted.kind !== 'mcp')
    return { id, type: itemKinds.web_search.type, status: 'in_progress', action: createAction(input) };
  const { label = '' } = hosted;
  const namedFields = { server_label: label, name: servedTool.nameAtServer, arguments: args };
  return {
    id,
    type: itemKinds.mcp.type,
    status: 'in_progress',
    ...namedFields,
    approval_request_id: null,
    output: null,
    error: null,
  };
}

/** Adds the outcome of a call to the call's item. The item of a search contains the results, because the next request needs them. */
export function addOutcome(startedItem: JsonObject, outcome: HostedOutcome): JsonObject {
  const status = isFailure(outcome) ? 'failed' : 'completed';
  if (startedItem['type'] === itemKinds.mcp.type) {
    const text = writeOutcomeText(outcome);
    if (status === 'completed') return { ...startedItem, status, output: text };
    const content = [{ type: 'text', text }];
    return { ...startedItem, status, error: { type: 'mcp_tool_execution_error', content } };
  }
  if (outcome.kind !== 'found') return { ...startedItem, status };
  const results = outcome.results.map(({ title, url, text }) => ({ type: 'text', title, url, text }));
  const sources = outcome.results.map(({ url }) => ({ type: 'url', url }));
  return { ...startedItem, status, action: { ...(startedItem['action'] as JsonObject), sources }, results };
}

function createAction({ query }: JsonObject): JsonObject {
  const text = typeof query === 'string' ? query : '';
  return { type: 'search', query: text, queries: [text] };
}
