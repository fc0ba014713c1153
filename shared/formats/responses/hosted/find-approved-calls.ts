import { parseIfJson, toObjectOrEmpty, toTextOrEmpty, type JsonObject } from '#shared/core/json.ts';
import type { HostedCall } from '../../hosted/hosted-request.ts';
import type { ResponsesItem } from '../request.ts';
import type { HostedFunction } from './hosted-functions.ts';

/**
 * Finds the calls of MCP servers that the client has approved and that have not run yet. The id of a call is the id of its approval
 * request. Leaves out a call if the request no longer has its tool. If the input repeats an approval request, its first item counts; of
 * several responses to it, the last one.
 */
export function findApprovedCalls(items: readonly ResponsesItem[], functions: readonly HostedFunction[]): HostedCall[] {
  const objects = items as readonly JsonObject[];
  const finishedIds = new Set(
    objects.map(({ type, approval_request_id: id }) => (type === 'mcp_call' ? id : undefined)),
  );
  const approvals = new Map(
    objects.flatMap(({ type, approve, approval_request_id: id }) =>
      type === 'mcp_approval_response' ? [[id, approve === true] as const] : [],
    ),
  );
  const requests = new Map<string, JsonObject>();
  for (const item of objects) {
    const { type, id } = item;
    if (type === 'mcp_approval_request' && typeof id === 'string' && !requests.has(id)) requests.set(id, item);
  }
  return [...requests].flatMap(([id, item]): HostedCall[] => {
    const { server_label: label, name } = item;
    if (approvals.get(id) !== true || finishedIds.has(id)) return [];
    const hostedFunction = functions.find(
      ({ hosted, servedTool }) => hosted.label === label && servedTool.nameAtServer === name,
    );
    return hostedFunction
      ? [
          {
            id,
            hosted: hostedFunction.hosted,
            servedTool: hostedFunction.servedTool,
            input: toObjectOrEmpty(parseIfJson(toTextOrEmpty(item['arguments']))),
          },
        ]
      : [];
  });
}
