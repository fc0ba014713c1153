import { withRegistry } from './with-registry.ts';

/** The registry of that ingress, for a batch runner, too. A token of `demo` costs a dollar for a million of input, two of output. */
export function commonRegistry(): Record<string, string> {
  return withRegistry(
    JSON.stringify({
      hosted_tools: {
        web_search: { tool: 'find_pages', input: { count: 2 } },
        web_fetch: { tool: 'get_page' },
        mcp: { pages: 'my pages' },
        max_uses: 4,
      },
      auto: {
        purposes: { auxiliary: { targets: [{ model: 'gone' }] }, subagent: { targets: [{ model: 'demo' }] } },
      },
      models: { search: { targets: [{ model: 'embedder' }] } },
      prices: {
        demo: { input: 1, output: 2 },
        splitter: { input: 1, output: 2 },
        embedder: { input: 2, output: 0 },
        painter: { input: 0, output: 0, image: 0.04 },
        speaker: { input: 0, output: 0, characters: 15 },
        scribe: { input: 0, output: 0, second: 0.0001 },
      },
    }),
  );
}

/**
 * What many files need of an ingress beside the usual one, so that they share it: a registry with hosted tools and prices, short keep-alives,
 * and room for one recording of 25 MiB in base64, and not for two.
 */
export function commonIngress(): Record<string, string> {
  return { ...commonRegistry(), KEEP_ALIVE_MS: '200', MAX_HELD_BYTES: String(64 * 1024 * 1024) };
}
