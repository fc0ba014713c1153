/** Fields of a messages request that become something else, or the same, in a chat request. */
export const translatedToChat: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'system',
  'max_tokens',
  'stream',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'metadata',
]);

/** Fields of a messages request that a chat upstream has nothing for, and that change nothing an answer is judged by. */
export const ignoredInChat: ReadonlySet<string> = new Set([
  // Hints for caches, prices and places of one vendor's own platform.
  'cache_control',
  'service_tier',
  'speed',
  'inference_geo',
  'fallbacks',
  'diagnostics',
  // The client sends its whole history; what of it to forget is an optimisation.
  'context_management',
  'betas',
]);

/** Fields of a messages request that cannot be honoured by a chat upstream, and what they ask for. */
export const refusedInChat: Readonly<Record<string, string>> = {
  mcp_servers: 'servers of tools that the upstream itself runs',
  container: 'a container that the upstream itself runs',
};
