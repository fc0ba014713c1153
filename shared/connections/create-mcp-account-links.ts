import type { McpAccountLinkStore } from '#shared/accounts/connections/mcp-account-link-store.ts';
import type { Environment } from '#shared/core/load-config.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Releases } from '#shared/core/release.ts';
import { createGuardedFetch } from '#shared/public-fetch/guarded-fetch.ts';
import { isPublicAddress } from '#shared/public-fetch/is-public-address.ts';
import { createNetworkCheck } from '#shared/public-fetch/networks.ts';
import { readOauthServers, type OauthServer } from '#shared/registry/mcp-servers.ts';
import type { Registry } from '#shared/registry/registry.ts';
import { McpAccountLinks } from './mcp-account-links.ts';
import { CurrentTokens } from './current-tokens.ts';
import { ToolAccountLinks } from './tool-account-links.ts';

/** Maximum milliseconds for one exchange with a server or an authorization server. */
const maxExchangeMs = 5_000;
/** Maximum bytes of an answer of one of these servers. */
const maxAnswerBytes = 256 * 1024;

export interface McpAccountLinksParts {
  store: McpAccountLinkStore;
  registry: () => Registry;
  /** The variables that entries of the registry may name. */
  environment: Environment;
  /** Networks that are not public, but to which the router may connect. */
  networks: readonly string[];
  publicUrl: string | undefined;
  log: Logger;
  releases: Releases;
}

/**
 * Creates the object that connects people to the MCP servers of the registry, and the object that returns their tokens for calls of tools.
 */
export function createMcpAccountLinks(options: McpAccountLinksParts): {
  connections: McpAccountLinks;
  toolLinks: ToolAccountLinks;
} {
  const { store, registry, environment, networks, publicUrl, log, releases } = options;
  const isListed = createNetworkCheck(networks);
  const fetch = createGuardedFetch({
    timeoutMs: maxExchangeMs,
    maxBytes: maxAnswerBytes,
    isAllowed: (address) => isPublicAddress(address) || isListed(address),
  });
  let cached: { registry: Registry; servers: readonly OauthServer[] } | undefined;
  const servers = (): readonly OauthServer[] => {
    const currentRegistry = registry();
    if (cached?.registry === currentRegistry) return cached.servers;
    const { servers, refused } = readOauthServers(currentRegistry.mcpServers, environment);
    for (const { name, reason } of refused) log.error({ server: name, reason }, 'nobody can connect to an MCP server');
    cached = { registry: currentRegistry, servers };
    return servers;
  };
  const connections = new McpAccountLinks({ store, servers, fetch, log });
  const tokens = new CurrentTokens({ store, fetch, log });
  releases.add('tokens of MCP account links', () => tokens.close());
  return { connections, toolLinks: new ToolAccountLinks({ connections, tokens, servers, publicUrl }) };
}
