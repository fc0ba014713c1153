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
