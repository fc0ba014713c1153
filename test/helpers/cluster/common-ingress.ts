import { withRegistry } from './with-registry.ts';

/** Returns the registry of that ingress, also for a batch runner. A million tokens of `demo` cost one dollar as input and two as output. */
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
 * Returns the settings of an ingress that many files share: a registry with hosted tools and prices, short keep-alives, and a quarter of
 * its memory as room for one recording of 25 MiB in base64, but not for two.
 */
export function commonIngress(): Record<string, string> {
  return { ...commonRegistry(), KEEP_ALIVE_MS: '200', MEMORY_BYTES: String(256 * 1024 * 1024) };
}
