/** The kinds of content that an MCP server may offer besides tools. The router passes requests for such content through to the server. */
export const contentKinds = ['resources', 'prompts', 'completions'] as const;

export type ContentKind = (typeof contentKinds)[number];

/** The methods of the Model Context Protocol that the router passes through to an MCP server. */
export const contentMethods = [
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
] as const;

export type ContentMethod = (typeof contentMethods)[number];

/**
 * Returns the name that stands for the content of an MCP server; no tool can have such a name. In the list of tools that a key permits,
 * this name stands for everything that the server offers.
 */
export function contentName(server: string): string {
  return `${server}/*`;
}
