import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';

/** A provider without pages: a test plays the person there, and learns which codes are exchanged. */
export interface CountedProvider {
  issuer: string;
  /** The code of each exchange, in order. */
  exchanged: string[];
  /** The address that leads back from the provider's page at `url`, for somebody with these claims. */
  answer: (url: URL, claims: Record<string, unknown>) => URL;
}

/** Starts a provider for the running test. It is asked as a public client, and signs with no key: nobody verifies that over its own connection. */
export async function startCountedProvider(): Promise<CountedProvider> {
  const exchanged: string[] = [];
  const given = new Map<string, Record<string, unknown>>();
  const server = createServer((request, response) => {
    void answerTo(request.url ?? '', request).then((body) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { issuer, exchanged, answer };

  async function answerTo(path: string, body: AsyncIterable<Uint8Array>): Promise<unknown> {
    if (path !== '/token') {
      return { issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` };
    }
    const code = new URLSearchParams(await text(body)).get('code') ?? '';
    exchanged.push(code);
    return { access_token: 'any', token_type: 'Bearer', expires_in: 3_600, id_token: idToken(given.get(code) ?? {}) };
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

function idToken(claims: Record<string, unknown>): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part(claims)}.${Buffer.from('no signature').toString('base64url')}`;
}
