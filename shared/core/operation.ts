/** What a request asks of a worker. */
export const operations = ['generate', 'count_tokens', 'execute_tool'] as const;
export type Operation = (typeof operations)[number];
