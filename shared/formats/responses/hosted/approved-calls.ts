import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { HostedCall } from '../../hosted/hosted-request.ts';
import type { ResponsesItem } from '../request.ts';
import type { HostedFunction } from './hosted-functions.ts';

/**
 * Finds the calls of MCP servers that the client has approved in this request and that have not run yet. Each call has the id of its
 * approval request. Leaves out a call if the request no longer has its tool.
 */
export function approvedCalls(items: readonly ResponsesItem[], functions: readonly HostedFunction[]): HostedCall[] {
  const fields = items as readonly JsonObject[];
  const ran = new Set(fields.map(({ type, approval_request_id: id }) => (type === 'mcp_call' ? id : undefined)));
  const approved = new Set(
    fields.map(({ type, approve, approval_request_id: id }) =>
      type === 'mcp_approval_response' && approve === true ? id : undefined,
    ),
  );
  return fields.flatMap((item): HostedCall[] => {
    const { type, id, server_label: label, name } = item;
    if (type !== 'mcp_approval_request' || typeof id !== 'string' || !approved.has(id) || ran.has(id)) return [];
    const called = functions.find(({ hosted, served }) => hosted.label === label && served.ownName === name);
    return called ? [{ id, hosted: called.hosted, served: called.served, input: inputOf(item['arguments']) }] : [];
  });
}

function inputOf(json: Json | undefined): JsonObject {
  try {
    const input: unknown = JSON.parse(typeof json === 'string' ? json : '{}');
    return isJsonObject(input) ? input : {};
  } catch {
    // The client has changed the arguments so that they are no JSON. The tool reports what is missing.
    return {};
  }
}
