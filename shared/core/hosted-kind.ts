/** The kinds of tools that run beside the model: on its upstream or, if that has none, on the tools tier. */
export const hostedKinds = ['web_search', 'web_fetch', 'mcp'] as const;
export type HostedKind = (typeof hostedKinds)[number];
