import { setTimeout as sleep } from 'node:timers/promises';
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/client';
import type {
  McpAccountLinkStore,
  NewMcpAccountLink,
  StoredMcpAccountLink,
} from '#shared/accounts/connections/mcp-account-link-store.ts';
import type { Logger } from '#shared/core/log.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { GuardedFetch } from '#shared/public-fetch/guarded-fetch.ts';
import { toMcpAccountLink, describeError, secretsSchema, type McpAccountLinkSecrets } from './mcp-account-links.ts';
import { refreshGrant } from './grants.ts';

/** A token that expires within this many milliseconds is refreshed before it is used, because the call may wait in a queue. */
const earlyMs = 60_000;

/** Maximum of milliseconds that a call waits for another node's refresh. */
const waitMs = 20_000;
/** Milliseconds between two reads of the link while another node refreshes it. */
const lookEveryMs = 50;

/** Errors of an authorization server that only the person can resolve, by connecting again (RFC 6749, 5.2). */
const final = new Set<string>([
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
]);

export interface CurrentTokenOptions {
  store: McpAccountLinkStore;
  fetch: GuardedFetch;
  log: Logger;
}

/** A usable token, or why there is none. */
export type CurrentToken = { token: string } | 'none' | 'expired';

/**
 * Returns the tokens of people's MCP account links, and refreshes tokens that expire soon. One node at a time refreshes a link, and all
 * other nodes wait for it.
 */
export class CurrentTokens {
  readonly #options: CurrentTokenOptions;
  /** The running refreshes of this node, by person and server. */
  readonly #refreshing = new Map<string, Promise<CurrentToken>>();

  constructor(options: CurrentTokenOptions) {
    this.#options = options;
  }

  /**
   * Returns the token of a person for a server.
   * @param url current URL of the server; the token of a link to another URL is not returned
   * @param refused a token that the server has just refused
   * @throws RouterError `upstream_failed` when the token has expired and the authorization server cannot be asked; `store_unavailable`
   */
  async get(person: string, server: string, url: string, refused?: string): Promise<CurrentToken> {
    const { store } = this.#options;
    const connection = await store.find(person, server);
    if (connection?.url !== url) return 'none';
    const secrets = this.#secretsOf(person, server, connection);
    if (!secrets) return 'expired';
    if (secrets.access !== refused && !endsSoon(connection)) return { token: secrets.access };
    const key = `${person} ${server}`;
    let refreshing = this.#refreshing.get(key);
    if (!refreshing) {
      refreshing = this.#refresh(person, server, secrets.access === refused ? refused : undefined).finally(() =>
        this.#refreshing.delete(key),
      );
      this.#refreshing.set(key, refreshing);
    }
    return refreshing;
  }

  /** Refreshes an MCP account link, or waits for the node that refreshes it. */
  async #refresh(person: string, server: string, refused: string | undefined): Promise<CurrentToken> {
    const { store } = this.#options;
    for (const endsAt = performance.now() + waitMs; performance.now() < endsAt; await sleep(lookEveryMs)) {
      const holder = await store.beginRefresh(person, server);
      // The link is read after the refresh has begun, because another node may have finished a refresh just before.
      const connection = await store.find(person, server);
      const secrets = connection && this.#secretsOf(person, server, connection);
      const isFresh = secrets && secrets.access !== refused && !endsSoon(connection);
      if (holder === undefined) {
        if (!connection) return 'none';
        if (!secrets) return 'expired';
        if (isFresh) return { token: secrets.access };
        continue;
      }
      if (!connection || !secrets || isFresh) {
        if (connection) await store.endRefresh(person, server, connection, holder, undefined);
        if (isFresh) return { token: secrets.access };
        return connection ? 'expired' : 'none';
      }
      return this.#refreshAsHolder({ person, server, refused }, connection, secrets, holder);
    }
    throw new RouterError('upstream_failed', `The connection to the MCP server '${server}' is being refreshed.`);
  }

  async #refreshAsHolder(
    { person, server, refused }: { person: string; server: string; refused: string | undefined },
    connection: StoredMcpAccountLink,
    { grantor, access, refresh }: McpAccountLinkSecrets,
    holder: string,
  ): Promise<CurrentToken> {
    const { store, fetch, log } = this.#options;
    const { url, connectedAt, refreshedAt, expiresAt = Infinity } = connection;
    const over: NewMcpAccountLink = { url, connectedAt, refreshedAt, canRefresh: false, secrets: undefined };
    const isUsable = access !== refused && expiresAt > Date.now();
    let next: NewMcpAccountLink | undefined;
    let result: CurrentToken | RouterError = isUsable ? { token: access } : 'expired';
    try {
      if (refresh !== undefined) {
        const tokens = await refreshGrant(grantor, refresh, fetch);
        next = toMcpAccountLink(tokens, { url, connectedAt }, grantor);
        result = { token: tokens.access_token };
      } else if (!isUsable) next = over;
    } catch (error) {
      log.info({ server, reason: describeError(error) }, 'a connection to an MCP server could not be refreshed');
      if (error instanceof OAuthError && final.has(error.code)) {
        next = over;
        result = 'expired';
      } else if (!isUsable) {
        const message = `The authorization server of the MCP server '${server}' does not refresh the connection now.`;
        result = new RouterError('upstream_failed', message, { cause: new Error(describeError(error)) });
      }
    }
    await store.endRefresh(person, server, connection, holder, next);
    if (result instanceof RouterError) throw result;
    return result;
  }

  #secretsOf(person: string, server: string, connection: StoredMcpAccountLink): McpAccountLinkSecrets | undefined {
    return secretsSchema.safeParse(this.#options.store.openSecrets(person, server, connection)).data;
  }
}

/**
 * Returns whether a token expires so soon that it must be refreshed before it is used. That is within a minute, or within half of its
 * lifetime if that is shorter than two minutes.
 */
function endsSoon({ expiresAt = Infinity, refreshedAt }: StoredMcpAccountLink): boolean {
  const left = expiresAt - Date.now();
  return left < Math.min(earlyMs, (expiresAt - refreshedAt) / 2);
}
