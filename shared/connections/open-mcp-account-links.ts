import type { McpAccountLinkStore } from '#shared/accounts/connections/mcp-account-link-store.ts';
import type { Environment } from '#shared/core/load-config.ts';
import type { Logger } from '#shared/core/log.ts';
import { createGuardedFetch } from '#shared/public-fetch/guarded-fetch.ts';
import { isPublicAddress } from '#shared/public-fetch/is-public-address.ts';
import { addressesIn } from '#shared/public-fetch/networks.ts';
import { readOauthServers, type OauthServer } from '#shared/registry/mcp-servers.ts';
import type { Registry } from '#shared/registry/registry.ts';
import { Connections } from './mcp-account-links.ts';
import { CurrentTokens } from './current-tokens.ts';
import { ToolAccountLinks } from './tool-account-links.ts';

/** Maximum of milliseconds for one exchange with a server or an authorization server. */
const answerMs = 5_000;
/** Maximum bytes of one answer of such a server. */
const answerBytes = 256 * 1024;

export interface OpenConnectionsOptions {
  store: McpAccountLinkStore;
  registry: () => Registry;
  /** The variables that entries of the registry may name. */
  environment: Environment;
  /** Networks to whose addresses the router may connect although they are not public. */
  networks: readonly string[];
  publicUrl: string | undefined;
  log: Logger;
}

/** Opens the part that connects people to the MCP servers of the registry, and the part that returns their tokens. */
export function createMcpAccountLinks(options: OpenConnectionsOptions): {
  connections: Connections;
  served: ToolAccountLinks;
} {
  const { store, registry, environment, networks, publicUrl, log } = options;
  const isListed = addressesIn(networks);
  const fetch = createGuardedFetch({
    timeoutMs: answerMs,
    maxBytes: answerBytes,
    isAllowed: (address) => isPublicAddress(address) || isListed(address),
  });
  let read: { of: Registry; servers: readonly OauthServer[] } | undefined;
  const servers = (): readonly OauthServer[] => {
    const of = registry();
    if (read?.of === of) return read.servers;
    const { servers, refused } = readOauthServers(of.mcpServers, environment);
    for (const { name, reason } of refused) log.error({ server: name, reason }, 'nobody can connect to an MCP server');
    read = { of, servers };
    return servers;
  };
  const connections = new Connections({ store, servers, fetch, log });
  const tokens = new CurrentTokens({ store, fetch, log });
  return { connections, served: new ToolAccountLinks({ connections, tokens, servers, publicUrl }) };
}
