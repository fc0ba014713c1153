import { RouterError } from '#shared/core/errors.ts';
import type { OauthServer } from '#shared/registry/mcp-servers.ts';
import type { McpAccountLinks } from './mcp-account-links.ts';
import type { CurrentTokens } from './current-tokens.ts';

export interface ToolAccountLinksOptions {
  connections: McpAccountLinks;
  tokens: CurrentTokens;
  /** Returns the servers of the registry in use. */
  servers: () => readonly OauthServer[];
  /** URL at which people reach the console; undefined if it is not known. */
  publicUrl: string | undefined;
}

export const connectionsPath = '/connections';

/** The MCP account links of people, for calls of tools. */
export class ToolAccountLinks {
  readonly #options: ToolAccountLinksOptions;

  constructor(options: ToolAccountLinksOptions) {
    this.#options = options;
  }

  servers(): readonly OauthServer[] {
    return this.#options.servers();
  }

  /** Returns, for each server to which the person is connected now, a text that changes when the person connects again. */
  async readVersions(person: string): Promise<ReadonlyMap<string, string>> {
    const listedServers = await this.#options.connections.list(person);
    const connectedServers = listedServers.filter(({ state }) => state === 'connected');
    return new Map(connectedServers.map(({ server, connectedAt }) => [server, String(connectedAt)]));
  }

  /**
   * Returns the token of a person for a server.
   * @param refusedToken a token that the server has just refused
   * @throws RouterError `connection_required`, or as `CurrentTokens.get` does
   */
  async findToken(
    person: string,
    { name, url }: Pick<OauthServer, 'name' | 'url'>,
    refusedToken?: string,
  ): Promise<string> {
    const current = await this.#options.tokens.get(person, name, url, refusedToken);
    if (typeof current === 'string') throw this.toRequiredError(name, current);
    return current.token;
  }

  /** Returns the error for a call of a server's tool by somebody without a valid MCP account link to the server. */
  toRequiredError(server: string, why: 'no person' | 'none' | 'expired'): RouterError {
    return new RouterError('connection_required', this.#explainRequired(server, why));
  }

  #explainRequired(server: string, why: 'no person' | 'none' | 'expired'): string {
    const { publicUrl } = this.#options;
    const page =
      publicUrl === undefined
        ? `on the page Connections of the console, at ${connectionsPath}`
        : `at ${new URL(connectionsPath, publicUrl).href}`;
    switch (why) {
      case 'no person':
        return `Tools of the MCP server '${server}' are called as a person: use a personal key, and connect to the server ${page}.`;
      case 'none':
        return `You are not connected to the MCP server '${server}'. Connect to it ${page}.`;
      case 'expired':
        return `Your connection to the MCP server '${server}' has expired. Connect to it again ${page}.`;
    }
  }
}
