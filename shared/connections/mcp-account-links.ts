import { IssuerMismatchError, OAuthError, type OAuthTokens } from '@modelcontextprotocol/client';
import { z } from 'zod';
import type { McpAccountLinkStore, NewMcpAccountLink } from '#shared/accounts/connections/mcp-account-link-store.ts';
import { hashToken } from '#shared/accounts/people/secret-token.ts';
import { RouterError } from '#shared/core/errors.ts';
import type { Logger } from '#shared/core/log.ts';
import type { GuardedFetch } from '#shared/public-fetch/guarded-fetch.ts';
import { PublicFetchError } from '#shared/public-fetch/guarded-agent.ts';
import type { OauthServer } from '#shared/registry/mcp-servers.ts';
import { ConnectError } from './connect-error.ts';
import { pendingGrantSchema, beginGrant, authorizationClientSchema, redeemCode, revokeGrant } from './grants.ts';

export const secretsSchema = z.object({
  grantor: authorizationClientSchema,
  access: z.string(),
  refresh: z.string().optional(),
});

export type McpAccountLinkSecrets = z.output<typeof secretsSchema>;

const pendingLinkSchema = pendingGrantSchema.extend({ server: z.string(), url: z.string(), session: z.string() });

export type McpAccountLinkState = 'connected' | 'expired' | 'none';

/** A server to which people can connect, with the state of one person's MCP account link. Times in ms since 1970. */
export interface ServerForPerson {
  server: string;
  url: string;
  state: McpAccountLinkState;
  connectedAt: number | undefined;
}

export interface McpAccountLinksOptions {
  store: McpAccountLinkStore;
  /** Returns the servers of the registry in use. */
  servers: () => readonly OauthServer[];
  fetch: GuardedFetch;
  log: Logger;
}

/** Connects people to MCP servers, each person with their own account at the server, and disconnects them. */
export class McpAccountLinks {
  readonly #options: McpAccountLinksOptions;

  constructor(options: McpAccountLinksOptions) {
    this.#options = options;
  }

  /**
   * Returns all servers, each with the state of the person's MCP account link.
   * @throws RouterError `store_unavailable`
   */
  async list(person: string): Promise<ServerForPerson[]> {
    const links = await this.#options.store.list(person);
    return this.#options.servers().map(({ name: server, url }) => {
      const link = links.get(server);
      // A link to a former URL of the server has no token for the current URL.
      if (link?.url !== url) return { server, url, state: 'none', connectedAt: undefined };
      const { sealed, expiresAt = Infinity, canRefresh, connectedAt } = link;
      const isExpired = sealed === undefined || (expiresAt <= Date.now() && !canRefresh);
      return { server, url, state: isExpired ? 'expired' : 'connected', connectedAt };
    });
  }

  /**
   * Begins to connect a person.
   * @param session id of the person's sign-in session; `complete` accepts only the same id
   * @param redirectUrl the URL to which the authorization server sends the person back
   * @returns the URL at which the person grants access; undefined if there is no such server
   * @throws ConnectError; RouterError `store_unavailable`
   */
  async begin(person: string, session: string, server: string, redirectUrl: string): Promise<URL | undefined> {
    const entry = this.#options.servers().find(({ name }) => name === server);
    if (!entry) return undefined;
    let authorizationAddress: URL | undefined;
    const state = await this.#replaceErrors(server, () =>
      this.#options.store.beginConnect(person, async (state) => {
        const { authorizationUrl, ...pending } = await beginGrant(entry, redirectUrl, state, this.#options.fetch);
        authorizationAddress = authorizationUrl;
        return { ...pending, server, url: entry.url, session: hashToken(session) } satisfies z.input<
          typeof pendingLinkSchema
        >;
      }),
    );
    if (state === undefined) throw new ConnectError('You have tried this too often. Try again in ten minutes.');
    return authorizationAddress;
  }

  /**
   * Connects a person whom the authorization server has sent back.
   * @returns the name of the server
   * @throws ConnectError; RouterError `store_unavailable`
   */
  async complete(
    person: string,
    session: string,
    { state, code, iss }: { state: string; code: string | undefined; iss: string | undefined },
  ): Promise<string> {
    const { store, fetch } = this.#options;
    const parsed = pendingLinkSchema.safeParse(await store.takeConnect(person, state));
    if (!parsed.success || parsed.data.session !== hashToken(session))
      throw new ConnectError('This does not belong to an attempt of yours to connect, or it is over. Try again.');
    const { server, url, ...pending } = parsed.data;
    if (code === undefined) throw new ConnectError('Access was not granted.');
    const tokens = await this.#replaceErrors(server, () => redeemCode(pending, { code, iss }, fetch));
    const link = toMcpAccountLink(tokens, { url, connectedAt: Date.now() }, pending.grantor);
    if (!(await store.keep(person, server, link))) throw new ConnectError('Your account is blocked.');
    return server;
  }

  /**
   * Disconnects a person from a server. Then asks the authorization server to revoke the token. If this fails, the failure is only logged.
   * @returns false if the person had no link to the server
   */
  async disconnect(person: string, server: string): Promise<boolean> {
    const { store, fetch, log } = this.#options;
    const link = await store.find(person, server);
    const removed = await store.remove(person, server);
    const { data } = secretsSchema.safeParse(link && store.openSecrets(person, server, link));
    if (!data) return removed;
    const { grantor, access, refresh } = data;
    const token = refresh === undefined ? ([access, 'access_token'] as const) : ([refresh, 'refresh_token'] as const);
    await revokeGrant(grantor, token, fetch).catch((error: unknown) =>
      log.info({ server, reason: describeError(error) }, 'a connection that was removed could not be revoked'),
    );
    return removed;
  }

  /**
   * Calls `sendRequests`, which sends requests to other servers, and replaces errors of these servers.
   * @throws ConnectError with a sentence for the person, without texts of the server
   */
  async #replaceErrors<T>(server: string, sendRequests: () => Promise<T>): Promise<T> {
    try {
      return await sendRequests();
    } catch (error) {
      if (error instanceof RouterError) throw error;
      this.#options.log.warn(
        { server, reason: describeError(error) },
        'a person could not be connected to an MCP server',
      );
      throw error instanceof ConnectError ? error : new ConnectError(toSentence(error));
    }
  }
}

/** Maximum milliseconds (ten years) for which a token counts as valid, whatever its server states. */
const maxLifetimeMs = 10 * 365 * 86_400_000;

/** Returns an MCP account link to store for the tokens that a server has issued. */
export function toMcpAccountLink(
  { access_token: access, refresh_token: refresh, expires_in: seconds }: OAuthTokens,
  { url, connectedAt }: Pick<NewMcpAccountLink, 'url' | 'connectedAt'>,
  grantor: McpAccountLinkSecrets['grantor'],
): NewMcpAccountLink {
  const secrets: McpAccountLinkSecrets = { grantor, access, ...(refresh !== undefined && { refresh }) };
  const refreshedAt = Date.now();
  // `null` and `""` are read as 0.
  const lifetimeMs = seconds === undefined || seconds <= 0 ? undefined : Math.min(seconds * 1_000, maxLifetimeMs);
  const expiresAt = lifetimeMs === undefined ? {} : { expiresAt: Math.round(refreshedAt + lifetimeMs) };
  return { url, connectedAt, refreshedAt, canRefresh: refresh !== undefined, ...expiresAt, secrets };
}

/** Returns the kind of an error for the log, without texts of other servers. */
export function describeError(error: unknown): string {
  if (error instanceof OAuthError) return `it answered ${error.code}`;
  if (error instanceof PublicFetchError || error instanceof ConnectError) return error.message;
  return error instanceof Error ? error.constructor.name : 'unknown';
}

function toSentence(error: unknown): string {
  if (error instanceof PublicFetchError)
    return `The server, or its authorization server, was not asked: ${error.message}.`;
  if (error instanceof IssuerMismatchError)
    return 'The authorization server answers as another one than the server names.';
  if (error instanceof OAuthError) {
    return 'The authorization server refuses the router. An administrator finds the reason in its log.';
  }
  return 'The server, or its authorization server, does not answer as it should.';
}
