/** Calls of tools that a server has run, and what else it reports of them. */
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
 * Whether an item of this type is a call that a server has run for an earlier answer. Another upstream does without it: the text of
 * that answer has what came of the call.
 */
export function isHostedCall(type: string): boolean {
  return hostedCalls.has(type);
}
