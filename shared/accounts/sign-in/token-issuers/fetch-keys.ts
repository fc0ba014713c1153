import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import type { JSONWebKeySet } from 'jose';
import { Agent, request } from 'undici';
import { z } from 'zod';
import type { KeysOfIssuer } from './token-issuer.ts';

/** Maximum bytes of an answer. For comparison: the answer of a large provider has 20 keys in 30 KiB. */
const maxBytes = 1024 * 1024;

const answerTimeoutMs = 5_000;

const keySetSchema = z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })).max(1_000) });
const discoverySchema = z.looseObject({ issuer: z.string(), jwks_uri: z.string() });

/** Returns whether keys may be fetched from a URL: over TLS, or from this machine. */
export type IsSafeAddress = (address: string) => boolean;

/**
 * Reads the current keys of an issuer. Redirects are not followed.
 * @throws an Error that states the reason
 */
export async function fetchKeys(source: KeysOfIssuer, isSafe: IsSafeAddress): Promise<JSONWebKeySet> {
  const { issuer, jwksUri, jwksFile, jwks, ca } = source;
  if (jwks) return jwks;
  if (jwksFile !== undefined) return parseKeySet(JSON.parse(await readFile(jwksFile, 'utf8')));
  const certificates = ca === undefined ? undefined : [...rootCertificates, await readFile(ca, 'utf8')];
  const agent = new Agent({
    maxResponseSize: maxBytes,
    connect: { timeout: answerTimeoutMs, ...(certificates && { ca: certificates }) },
  });
  try {
    return parseKeySet(await fetchJson(jwksUri ?? (await discoverKeysUrl(issuer, isSafe, agent)), agent));
  } finally {
    await agent.destroy();
  }
}

/** Reads the URL of an issuer's keys from its discovery document (OpenID Connect Discovery 1.0, section 4). */
async function discoverKeysUrl(issuer: string, isSafe: IsSafeAddress, agent: Agent): Promise<string> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { data } = discoverySchema.safeParse(await fetchJson(address, agent));
  if (!data) throw new Error(`${address} does not say where the keys are`);
  if (data.issuer !== issuer) throw new Error(`${address} is of the issuer ${data.issuer}`);
  if (!isSafe(data.jwks_uri))
    throw new Error(`${address} names the keys at ${data.jwks_uri}, which is no https address`);
  return data.jwks_uri;
}

async function fetchJson(address: string, agent: Agent): Promise<unknown> {
  const signal = AbortSignal.timeout(answerTimeoutMs);
  const headers = { accept: 'application/json, application/jwk-set+json' };
  const { statusCode, body } = await request(address, { dispatcher: agent, signal, headers });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${address} answers ${statusCode}`);
  return JSON.parse(text);
}

function parseKeySet(content: unknown): JSONWebKeySet {
  const { data } = keySetSchema.safeParse(content);
  if (!data) throw new Error('the content is not a JSON Web Key Set');
  return data;
}
