import { RouterError } from '#shared/core/errors.ts';
import type { JsonObject } from '#shared/core/json.ts';
import type { HostedRequest, HostedTool } from '#shared/formats/hosted/hosted-request.ts';

/** A tool of the MCP server `wiki`. */
export const servedTool = { name: 'write', description: 'Writes.', inputSchema: { type: 'object' }, server: 'wiki' };

/** Returns a request with hosted tools whose first turn calls a tool of this kind, and whose second turn ends the answer. */
export function hostedCall(kind: HostedTool['kind'], answer: JsonObject = {}): HostedRequest {
  const { name } = servedTool;
  const hosted: HostedTool = { kind, title: kind, param: 'tools.0', label: 'wiki' };
  const called = { name, nameAtServer: name, description: '', inputSchema: {} };
  return {
    tools: [hosted],
    createRefusal: (_tool, reason) => new RouterError('unsupported_parameter', reason),
    withFunctions: () => Buffer.alloc(0),
    createAnswer: (body) => {
      let turns = 0;
      return {
        approvedCalls: [],
        get isComplete() {
          return turns > 1;
        },
        writeNextRequest: () => Buffer.from(JSON.stringify({ ...body, stream: true })),
        relay: () => '',
        turnBytes: 0,
        endTurn: () => ((turns += 1) > 1 ? [] : [{ id: 'a', hosted, servedTool: called, input: {} }]),
        namesAddress: () => true,
        answerCall: () => '',
        finish: () => '',
        buildWholeAnswer: () => answer,
      };
    },
  };
}
