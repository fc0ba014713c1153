import type { JsonObject } from '#shared/core/json.ts';
import type { HostedCall } from '../../hosted/hosted-request.ts';
import { isFailure, writeOutcomeText, type HostedOutcome } from '../../hosted/hosted-outcome.ts';

/** Item types of hosted calls, and the prefixes of their ids. */
const kinds = {
  web_search: { type: 'web_search_call', prefix: 'ws' },
  mcp: { type: 'mcp_call', prefix: 'mcp' },
} as const;

/** Returns the id of an item that the router adds. */
export function hostedItemId(kind: 'web_search' | 'mcp' | 'mcpl' | 'mcpr', answer: string, position: number): string {
  const prefix = kind === 'web_search' || kind === 'mcp' ? kinds[kind].prefix : kind;
  return `${prefix}_rtr_${answer}_${position}`;
}

/** Returns the item of a call that has begun (OpenAI API reference, "Web search tool call", "MCP call"). */
export function inProgressItem({ id, hosted, served, input }: HostedCall, args: string): JsonObject {
  if (hosted.kind !== 'mcp') return { id, type: kinds.web_search.type, status: 'in_progress', action: actionOf(input) };
  const { label = '' } = hosted;
  const named = { server_label: label, name: served.ownName, arguments: args };
  return {
    id,
    type: kinds.mcp.type,
    status: 'in_progress',
    ...named,
    approval_request_id: null,
    output: null,
    error: null,
  };
}

/** Adds the outcome of a call to its item. The item of a search keeps the results that the next request needs. */
export function withOutcome(begun: JsonObject, outcome: HostedOutcome): JsonObject {
  const status = isFailure(outcome) ? 'failed' : 'completed';
  if (begun['type'] === kinds.mcp.type) {
    const text = writeOutcomeText(outcome);
    if (status === 'completed') return { ...begun, status, output: text };
    const content = [{ type: 'text', text }];
    return { ...begun, status, error: { type: 'mcp_tool_execution_error', content } };
  }
  if (outcome.kind !== 'found') return { ...begun, status };
  const results = outcome.results.map(({ title, url, text }) => ({ type: 'text', title, url, text }));
  const sources = outcome.results.map(({ url }) => ({ type: 'url', url }));
  return { ...begun, status, action: { ...(begun['action'] as JsonObject), sources }, results };
}

function actionOf({ query }: JsonObject): JsonObject {
  const text = typeof query === 'string' ? query : '';
  return { type: 'search', query: text, queries: [text] };
}
