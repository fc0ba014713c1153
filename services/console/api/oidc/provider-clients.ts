import * as oidc from 'openid-client';
import { Agent, fetch as fetchWith, type RequestInit as UndiciInit } from 'undici';
import type { SignInProvider } from '#shared/registry/sign-in.ts';
import type { Environment } from '#shared/core/load-config.ts';

/** Seconds for each request to a provider. */
const timeoutSeconds = 10;

/** Bytes of an answer of a provider. */
const maxAnswerBytes = 1024 * 1024;

const agent = new Agent({ maxResponseSize: maxAnswerBytes });

/** Fetches as the library does, and gives up on an answer that is too large. */
const boundedFetch: oidc.CustomFetch = (url, options) =>
  fetchWith(url, { ...(options as UndiciInit), dispatcher: agent });

/** Milliseconds for which what a provider says of itself is used. */
const freshMs = 3_600_000;

/** The router as a client of the providers: what each of them says of itself is asked for once in an hour. */
export class ProviderClients {
  readonly #environment: Environment;
  readonly #known = new Map<string, { until: number; client: Promise<oidc.Configuration> }>();

  /** @param environment has the secrets of the clients */
  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** The client of a provider. @throws an Error when the provider cannot be reached, or its secret is not set */
  async of(provider: SignInProvider): Promise<oidc.Configuration> {
    // With another setting it is another client.
    const key = JSON.stringify(provider);
    const now = performance.now();
    const known = this.#known.get(key);
    if (known && now < known.until) return known.client;
    for (const [each, { until }] of this.#known) if (now >= until) this.#known.delete(each);
    const client = this.#discover(provider);
    this.#known.set(key, { until: now + freshMs, client });
    client.catch(() => this.#known.delete(key));
    return client;
  }

  async #discover({ issuer, client_id: id, client_secret_env: variable }: SignInProvider): Promise<oidc.Configuration> {
    const secret = variable === undefined ? undefined : this.#environment[variable];
    if (variable !== undefined && !secret) throw new Error(`the variable ${variable} is not set`);
    const url = new URL(issuer);
    return oidc.discovery(url, id, secret, secret === undefined ? oidc.None() : undefined, {
      timeout: timeoutSeconds,
      [oidc.customFetch]: boundedFetch,
      // The registry admits http for this machine alone.
      ...(url.protocol === 'http:' && { execute: [oidc.allowInsecureRequests] }),
    });
  }
}

/** What a provider answers when it does not let a person in any more (RFC 6749, section 5.2). */
const refusals: ReadonlySet<string> = new Set(['invalid_grant', 'access_denied']);

/**
 * Whether a provider that was asked about a person has refused them. Its other errors are about the router, as `invalid_client` once the
 * router's secret has expired, or may pass.
 */
export function refusesPerson(error: unknown): boolean {
  if (!(error instanceof oidc.ResponseBodyError)) return false;
  return error.status < 500 && error.status !== 429 && refusals.has(error.error);
}

/**
 * What a provider has answered in place of tokens: the `error` of OAuth, which the message of `error` does not name, and the HTTP status.
 * Empty when it has not answered.
 */
export function answeredError(error: unknown): { error?: string; status?: number } {
  if (error instanceof oidc.ResponseBodyError) return { error: error.error.slice(0, 100), status: error.status };
  if (error instanceof oidc.AuthorizationResponseError) return { error: error.error.slice(0, 100) };
  if (error instanceof oidc.WWWAuthenticateChallengeError) return { status: error.status };
  // The cause of an answer that is none of OAuth is the response.
  const response = error instanceof Error ? error.cause : undefined;
  const isResponse = typeof response === 'object' && response !== null && 'status' in response;
  return isResponse && typeof response.status === 'number' ? { status: response.status } : {};
}
