/** What an MCP server may have besides tools, and passes through. */
export const contentKinds = ['resources', 'prompts', 'completions'] as const;

export type ContentKind = (typeof contentKinds)[number];

/** The methods of the Model Context Protocol that pass through to a server. */
export const contentMethods = [
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
] as const;

export type ContentMethod = (typeof contentMethods)[number];

/** The name under which the content of an MCP server is asked for, which no tool has; in a key's list, all of that server. */
export function contentName(server: string): string {
  return `${server}/*`;
}
