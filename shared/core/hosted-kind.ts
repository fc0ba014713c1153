/** The kinds of tools that run beside the model: on its upstream or, if the upstream does not have the tool, on the tools tier. */
export const hostedKinds = ['web_search', 'web_fetch', 'mcp'] as const;
export type HostedKind = (typeof hostedKinds)[number];
