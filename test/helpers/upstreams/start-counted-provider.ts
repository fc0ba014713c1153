import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { serveHttp } from '../servers/serve-http.ts';

export type TokenAnswer = () => Answer | Promise<Answer>;

interface Answer {
  status?: number;
  headers?: Record<string, string>;
  /** JSON, or text. */
  body: object | string;
}

/**
 * Starts a provider for the running test. Its client is public, and its tokens are unsigned: over a direct connection no signature is
 * verified.
 */
export async function startCountedProvider() {
  const exchanged: string[] = [];
  const refreshed: string[] = [];
  const given = new Map<string, Record<string, unknown>>();
  const used = new Set<string>();
  const ended = new Set<string>();
  let otherwise: TokenAnswer | undefined;
  const { url: issuer, stop } = await serveHttp(async (request, response) => {
    const { status = 200, headers, body } = await answerTo(request.url ?? '', request);
    const isText = typeof body === 'string';
    response.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers });
    response.end(isText ? body : JSON.stringify(body));
  });
  onTestFinished(stop);
  const answerTokens = (answers: TokenAnswer | undefined): void => {
    otherwise = answers;
  };
  return {
    issuer,
    /** The code of each exchange, in order. */
    exchanged,
    /** The token of each refresh, in order. */
    refreshed,
    /**
     * Replaces its answers to exchanges and refreshes from now on; undefined restores the default: a provider that accepts the person,
     * issues another token each time, and revokes all tokens when one is used twice.
     */
    answerTokens,
    /** Returns the address that leads back from the provider's page at `url`, for a person with these claims. */
    answer,
    /** Makes it unreachable from now on. */
    close: stop,
  };

  async function answerTo(path: string, content: AsyncIterable<Uint8Array>): Promise<Answer> {
    if (path !== '/token') {
      return { body: { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` } };
    }
    const form = new URLSearchParams(await text(content));
    const refreshToken = form.get('refresh_token');
    if (refreshToken !== null) {
      refreshed.push(refreshToken);
      return otherwise?.() ?? refresh(refreshToken);
    }
    const code = form.get('code') ?? '';
    exchanged.push(code);
    if (otherwise) return otherwise();
    return { body: { ...tokens(`${code}.0`), id_token: idToken(given.get(code) ?? {}) } };
  }

  /** Refresh tokens are `<sign-in>.<number>`. */
  function refresh(token: string): Answer {
    const [signIn = '', number] = token.split('.');
    if (used.has(token)) ended.add(signIn);
    used.add(token);
    if (ended.has(signIn)) return { status: 400, body: { error: 'invalid_grant' } };
    return { body: tokens(`${signIn}.${Number(number) + 1}`) };
  }

  function tokens(refreshToken: string): object {
    return { access_token: 'any', token_type: 'Bearer', expires_in: 3_600, refresh_token: refreshToken };
  }

  function answer(url: URL, claims: Record<string, unknown>): URL {
    const { client_id: aud, nonce, state = '', redirect_uri: back = '' } = Object.fromEntries(url.searchParams);
    const code = `code-${given.size + 1}`;
    const now = Math.floor(Date.now() / 1_000);
    given.set(code, { iss: issuer, aud, nonce, iat: now, exp: now + 300, ...claims });
    const to = new URL(back);
    to.search = new URLSearchParams({ code, state }).toString();
    return to;
  }
}

/** A provider without pages: a test acts as the person there, and sees which codes are exchanged. */
export type CountedProvider = Awaited<ReturnType<typeof startCountedProvider>>;

/** Returns an unsigned id token with these claims. */
export function idToken(claims: Record<string, unknown>): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part(claims)}.${Buffer.from('no signature').toString('base64url')}`;
}
