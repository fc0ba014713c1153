/** Kinds of content that an MCP server may offer in addition to tools; the router passes them through. */
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
 * Returns the name that stands for the content of an MCP server, which no tool has. In a key's list of tools it stands for everything of
 * that server.
 */
export function contentName(server: string): string {
  return `${server}/*`;
}
