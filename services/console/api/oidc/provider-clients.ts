import * as oidc from 'openid-client';
import { Agent, fetch as undiciFetch, type RequestInit as UndiciInit } from 'undici';
import type { SignInProvider } from '#shared/registry/sign-in.ts';
import type { Environment } from '#shared/core/load-config.ts';

/** Seconds that each request to a provider may take. */
const timeoutSeconds = 10;

const maxAnswerBytes = 1024 * 1024;

const agent = new Agent({ maxResponseSize: maxAnswerBytes });

/**
 * Fetches with a limit on the size of the response. Removes `WWW-Authenticate` headers (RFC 6749, section 5.2), because the library would
 * read them in place of the error in the body.
 */
const boundedFetch: oidc.CustomFetch = async (url, options) => {
  const answer = await undiciFetch(url, { ...(options as UndiciInit), dispatcher: agent });
  if (!answer.headers.has('www-authenticate')) return answer;
  const { status, statusText } = answer;
  const headers = new Headers([...answer.headers].filter(([name]) => name !== 'www-authenticate'));
  return new Response(answer.body, { status, statusText, headers });
};

/** Milliseconds after which the metadata of a provider is fetched again. */
const freshMs = 3_600_000;

/** The router's OpenID clients, one for each provider. The metadata of a provider is fetched once an hour. */
export class ProviderClients {
  readonly #environment: Environment;
  readonly #clients = new Map<string, { until: number; client: Promise<oidc.Configuration> }>();

  /** @param environment contains the secrets of the clients */
  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /**
   * Returns the client of a provider.
   * @throws an Error when the provider cannot be reached, or its secret is not set
   */
  async of(provider: SignInProvider): Promise<oidc.Configuration> {
    // If a setting of a provider changes, the router needs another client for it.
    const key = JSON.stringify(provider);
    const now = performance.now();
    const cached = this.#clients.get(key);
    if (cached && now < cached.until) return cached.client;
    for (const [each, { until }] of this.#clients) if (now >= until) this.#clients.delete(each);
    const client = this.#discover(provider);
    this.#clients.set(key, { until: now + freshMs, client });
    client.catch(() => this.#clients.delete(key));
    return client;
  }

  async #discover({ issuer, client_id: id, client_secret_env: variable }: SignInProvider): Promise<oidc.Configuration> {
    const secret = variable === undefined ? undefined : this.#environment[variable];
    if (variable !== undefined && !secret) throw new Error(`the variable ${variable} is not set`);
    const url = new URL(issuer);
    return oidc.discovery(url, id, secret, secret === undefined ? oidc.None() : undefined, {
      timeout: timeoutSeconds,
      [oidc.customFetch]: boundedFetch,
      // The registry accepts http for this machine alone.
      ...(url.protocol === 'http:' && { execute: [oidc.allowInsecureRequests] }),
    });
  }
}

/** The errors with which a provider refuses a person, or a refresh token that has ended (RFC 6749, section 5.2). */
const refusalCodes: ReadonlySet<string> = new Set(['invalid_grant', 'access_denied']);

/**
 * Returns whether an error says that the provider refuses the person. Other errors of a provider may be temporary, or concern the router,
 * such as `invalid_client` once the router's secret has expired.
 */
export function refusesPerson(error: unknown): boolean {
  if (!(error instanceof oidc.ResponseBodyError)) return false;
  return error.status < 500 && error.status !== 429 && refusalCodes.has(error.error);
}

export interface ProviderError {
  /** The OAuth error code, which the message of the `Error` does not contain. */
  error?: string;
  /** The provider's description of the error, without anything that could be a secret. */
  description?: string;
  status?: number;
}

/** Returns the parts of a provider's error that may be logged. Empty if the provider did not answer. */
export function readProviderError(error: unknown): ProviderError {
  if (error instanceof oidc.ResponseBodyError) return { ...limitError(error), status: error.status };
  if (error instanceof oidc.AuthorizationResponseError) return limitError(error);
  // If the provider answered with something outside OAuth, the cause of the error is the response.
  const response = error instanceof Error ? error.cause : undefined;
  const isResponse = typeof response === 'object' && response !== null && 'status' in response;
  return isResponse && typeof response.status === 'number' ? { status: response.status } : {};
}

/** The maximum lengths, in characters, of an error's name and of its description in the log. */
const [nameLength, descriptionLength] = [100, 300];

/** Long runs of the characters that tokens and secrets consist of. */
const secretLike = /[\w.~+/-]{24,}=*/g;

function limitError({ error, error_description: text }: { error: string; error_description?: string | undefined }) {
  const description = typeof text === 'string' ? text.slice(0, 10_000).replace(secretLike, '…') : '';
  return {
    error: error.slice(0, nameLength),
    ...(description !== '' && { description: description.slice(0, descriptionLength) }),
  };
}
