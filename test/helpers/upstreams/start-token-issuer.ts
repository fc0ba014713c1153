import type { RequestListener } from 'node:http';
import { readFileSync } from 'node:fs';
import { exportJWK, generateKeyPair, SignJWT, type CryptoKey, type JWK, type JWTPayload } from 'jose';
import type { Certificates } from '../servers/make-certificates.ts';
import { serveHttp } from '../servers/serve-http.ts';

export const audience = 'router';

/**
 * Starts the issuer.
 * @param tls certificates, to serve https
 */
export async function startTokenIssuer(tls?: Certificates) {
  let keysAsked = 0;
  let other: RequestListener | undefined;
  let id = 0;
  let key: { alg: string; kid: string; privateKey: CryptoKey; jwk: JWK };
  const rotate = async (alg = 'RS256'): Promise<void> => {
    const { privateKey, publicKey } = await generateKeyPair(alg);
    const kid = `key-${(id += 1)}`;
    key = { alg, kid, privateKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
  };
  await rotate();
  const listener: RequestListener = (request, response) => {
    if (other) return other(request, response);
    response.setHeader('content-type', 'application/json');
    if (request.url === '/.well-known/openid-configuration')
      return void response.end(JSON.stringify({ issuer, jwks_uri: `${issuer}/keys` }));
    if (request.url !== '/keys') return void response.writeHead(404).end();
    keysAsked += 1;
    response.end(JSON.stringify(jwks()));
  };
  const jwks = () => ({ keys: [key.jwk] });
  const secure = tls && { tls: { cert: readFileSync(tls.certFile), key: readFileSync(tls.keyFile) } };
  const { url: issuer, stop } = await serveHttp(listener, secure);
  return {
    issuer,
    /** Returns the number of requests for its keys so far. */
    keysAsked: () => keysAsked,
    /** Returns a token for `router`, valid for five minutes, with the newest key. An undefined claim is left out. */
    sign: (claims: Record<string, unknown> = {}, header: Record<string, unknown> = {}) => {
      const now = Math.floor(Date.now() / 1_000);
      const payload: JWTPayload = { iss: issuer, aud: audience, sub: 'somebody', iat: now, exp: now + 300, ...claims };
      return new SignJWT(payload).setProtectedHeader({ alg: key.alg, kid: key.kid, ...header }).sign(key.privateKey);
    },
    jwks,
    rotate,
    /** Replaces the answer to every request from now on; undefined restores the usual answers. */
    answerWith: (next: RequestListener | undefined) => void (other = next),
    close: stop,
  };
}

/** A server that issues tokens: discovery, keys, and a signer. */
export type TokenIssuer = Awaited<ReturnType<typeof startTokenIssuer>>;
