import { createUnsupportedChatError } from '../unsupported.ts';
import type { FlatTools, ServerTool } from './flatten-tools.ts';
import type { ResponsesToolOutput } from '#shared/formats/responses/request.ts';

/**
 * Refuses the tools of a request that would run on the server. There are two exceptions: a web search without access to the web, which
 * searches its vendor's cache, and a web search beside tools of the client. Codex sends one of these in every request, depending on whether
 * it may use the network.
 * @throws RouterError `unsupported_parameter` that names the first refused tool
 */
export function refuseServerTools({ serverTools, tools }: Pick<FlatTools, 'serverTools' | 'tools'>): void {
  const refused = serverTools.find(({ tool }) => !(isWebSearch(tool) && (isOffline(tool) || tools.length > 0)));
  if (refused) throw createUnsupportedChatError(`${refused.param}.type`, `tools of type '${refused.tool.type}'`);
}

function isWebSearch({ type }: ServerTool['tool']): boolean {
  return type.startsWith('web_search');
}

function isOffline(tool: ServerTool['tool']): boolean {
  return tool['external_web_access'] === false;
}

const hostedCalls: ReadonlySet<string> = new Set([
  'web_search_call',
  'file_search_call',
  'code_interpreter_call',
  'image_generation_call',
  'mcp_list_tools',
  'mcp_call',
  'mcp_approval_request',
  'mcp_approval_response',
]);

/**
 * Whether an item of this type belongs to a call that a server has run for an earlier answer. Upstreams do not need such an item, because
 * the text of the earlier answer contains the outcome.
 */
export function isHostedCall(type: string): boolean {
  return hostedCalls.has(type);
}

/** Returns the text that stands before an output that no call asked for, in a message of the user. */
export function labelOutput({ namespace, name }: ResponsesToolOutput): string {
  return `Output of ${[namespace, name].filter((part) => typeof part === 'string').join('.')}:`;
}
