import { setTimeout as sleep } from 'node:timers/promises';
import { OAuthError, OAuthErrorCode } from '@modelcontextprotocol/client';
import {
  refreshMs,
  type McpAccountLinkStore,
  type NewMcpAccountLink,
  type StoredMcpAccountLink,
} from '#shared/accounts/connections/mcp-account-link-store.ts';
import type { Logger } from '#shared/core/log.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { GuardedFetch } from '#shared/public-fetch/guarded-fetch.ts';
import { toMcpAccountLink, describeError, secretsSchema, type McpAccountLinkSecrets } from './mcp-account-links.ts';
import { refreshGrant } from './grants.ts';

/** A token that expires within this many milliseconds is refreshed before it is used, because the call may wait in a queue. */
const refreshEarlyMs = 60_000;

/** Maximum milliseconds for which a call waits while another node refreshes the link. */
const maxWaitMs = 20_000;
/** Milliseconds between two reads of the link while another node refreshes it. */
const readEveryMs = 50;
/** Milliseconds between two tries to store a refreshed link while Redis is unavailable. */
const storeEveryMs = 250;
/** Maximum milliseconds for which `close` waits for running refreshes. An authorization server answers within five seconds, or not at all. */
const closeMs = 7_000;

/** Errors of an authorization server that only the person can resolve, by connecting again (RFC 6749, 5.2). */
const finalErrors = new Set<string>([
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

/** A refresh that runs in this process. */
interface RunningRefresh {
  /** The tokens that the server has refused to the callers that wait for the refresh. */
  refusedTokens: Set<string>;
  outcome: Promise<Refresh>;
}

/** The outcome of a refresh. `stored` resolves when the new link is stored, or cannot be stored any more. */
interface Refresh {
  current: CurrentToken | RouterError;
  stored?: Promise<void>;
}

/**
 * Returns the tokens of people's MCP account links, and refreshes tokens that expire soon. One node at a time refreshes a link, and the
 * other nodes wait for that node.
 */
export class CurrentTokens {
  readonly #options: CurrentTokenOptions;
  /** The running refreshes of this node, by person and server. */
  readonly #refreshing = new Map<string, RunningRefresh>();

  constructor(options: CurrentTokenOptions) {
    this.#options = options;
  }

  /**
   * Returns the token of a person for a server.
   * @param url current URL of the server; the token of a link to another URL is not returned
   * @param refusedToken a token that the server has just refused
   * @throws RouterError `upstream_failed` when the token has expired and the authorization server does not refresh it, or when the refresh
   * by another node takes too long; `store_unavailable`
   */
  async get(person: string, server: string, url: string, refusedToken?: string): Promise<CurrentToken> {
    const { store } = this.#options;
    const link = await store.find(person, server);
    if (link?.url !== url) return 'none';
    const secrets = this.#openSecrets(person, server, link);
    if (!secrets) return 'expired';
    if (secrets.access !== refusedToken && !expiresSoon(link)) return { token: secrets.access };
    const key = `${person} ${server}`;
    let refresh = this.#refreshing.get(key);
    if (!refresh) {
      const refusedTokens = new Set<string>();
      refresh = { refusedTokens, outcome: this.#refresh(person, server, refusedTokens) };
      this.#refreshing.set(key, refresh);
      void waitUntilStored(refresh).finally(() => this.#refreshing.delete(key));
    }
    if (refusedToken !== undefined) refresh.refusedTokens.add(refusedToken);
    const { current } = await refresh.outcome;
    if (current instanceof RouterError) throw current;
    // The authorization server may issue the refused token again.
    return typeof current !== 'string' && current.token === refusedToken ? 'expired' : current;
  }

  /** Waits until running refreshes are stored, for seven seconds at most. A refreshed link that is not stored may be lost. */
  async close(): Promise<void> {
    const closing = new AbortController();
    const timeout = sleep(closeMs, undefined, { signal: closing.signal }).catch(() => undefined);
    await Promise.race([Promise.all(Array.from(this.#refreshing.values(), waitUntilStored)), timeout]);
    closing.abort();
  }

  /** Refreshes an MCP account link, or waits for the node that refreshes it. */
  async #refresh(person: string, server: string, refusedTokens: ReadonlySet<string>): Promise<Refresh> {
    const { store } = this.#options;
    for (const endsAt = performance.now() + maxWaitMs; performance.now() < endsAt; await sleep(readEveryMs)) {
      const holder = await store.beginRefresh(person, server);
      // The link is read after the refresh has begun, because another node may have finished a refresh just before.
      const link = await store.find(person, server);
      const secrets = link && this.#openSecrets(person, server, link);
      const isFresh = secrets && !refusedTokens.has(secrets.access) && !expiresSoon(link);
      if (!link || !secrets || isFresh) {
        if (holder !== undefined) await store.endRefresh(person, server, holder);
        if (isFresh) return { current: { token: secrets.access } };
        return { current: link ? 'expired' : 'none' };
      }
      if (holder !== undefined) return this.#refreshAsHolder({ person, server, refusedTokens }, link, secrets, holder);
    }
    throw new RouterError('upstream_failed', `The connection to the MCP server '${server}' is being refreshed.`);
  }

  async #refreshAsHolder(
    { person, server, refusedTokens }: { person: string; server: string; refusedTokens: ReadonlySet<string> },
    link: StoredMcpAccountLink,
    { grantor, access, refresh }: McpAccountLinkSecrets,
    holder: string,
  ): Promise<Refresh> {
    const { store, fetch, log } = this.#options;
    const { url, connectedAt, refreshedAt, expiresAt = Infinity } = link;
    const expiredLink: NewMcpAccountLink = { url, connectedAt, refreshedAt, canRefresh: false, secrets: undefined };
    // The server may refuse the token to another caller during the refresh.
    const isUsable = (): boolean => !refusedTokens.has(access) && expiresAt > Date.now();
    let newLink: NewMcpAccountLink | undefined;
    let failure: Exclude<Refresh['current'], { token: string }> = 'expired';
    try {
      if (refresh !== undefined) {
        const tokens = await refreshGrant(grantor, refresh, fetch);
        newLink = toMcpAccountLink(tokens, { url, connectedAt }, grantor);
        const stored = this.#storeRefreshed(person, server, holder, { oldLink: link, newLink });
        return { current: { token: tokens.access_token }, stored };
      }
      if (!isUsable()) newLink = expiredLink;
    } catch (error) {
      log.info({ server, reason: describeError(error) }, 'a connection to an MCP server could not be refreshed');
      if (error instanceof OAuthError && finalErrors.has(error.code)) {
        newLink = expiredLink;
      } else {
        const message = `The authorization server of the MCP server '${server}' does not refresh the connection now.`;
        failure = new RouterError('upstream_failed', message, { cause: new Error(describeError(error)) });
      }
    }
    await store.endRefresh(person, server, holder, newLink && { oldLink: link, newLink });
    return { current: !newLink && isUsable() ? { token: access } : failure };
  }

  /**
   * Stores a refreshed link. While Redis is unavailable, tries again for as long as no other node refreshes the link, because the
   * authorization server may accept only the new refresh token.
   */
  async #storeRefreshed(
    person: string,
    server: string,
    holder: string,
    replacement: { oldLink: StoredMcpAccountLink; newLink: NewMcpAccountLink },
  ): Promise<void> {
    for (const endsAt = performance.now() + refreshMs; ; await sleep(storeEveryMs, undefined, { ref: false })) {
      try {
        await this.#options.store.endRefresh(person, server, holder, replacement);
        return;
      } catch (error) {
        if (performance.now() < endsAt) continue;
        this.#options.log.warn({ err: error, server }, 'a refreshed connection to an MCP server could not be stored');
        return;
      }
    }
  }

  #openSecrets(person: string, server: string, link: StoredMcpAccountLink): McpAccountLinkSecrets | undefined {
    return secretsSchema.safeParse(this.#options.store.openSecrets(person, server, link)).data;
  }
}

/** Resolves when a refresh has failed, or its new link is stored or cannot be stored any more. */
async function waitUntilStored({ outcome }: RunningRefresh): Promise<void> {
  await outcome.then(({ stored }) => stored).catch(() => undefined);
}

/**
 * Returns whether a token expires so soon that it must be refreshed before it is used: within a minute or, if its lifetime is shorter than
 * two minutes, within half of its lifetime.
 */
function expiresSoon({ expiresAt = Infinity, refreshedAt }: StoredMcpAccountLink): boolean {
  const remainingMs = expiresAt - Date.now();
  return remainingMs < Math.min(refreshEarlyMs, (expiresAt - refreshedAt) / 2);
}
