import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import type { JSONWebKeySet } from 'jose';
import { Agent, request } from 'undici';
import { z } from 'zod';
import type { KeysOfIssuer } from './token-issuer.ts';

/** Maximum bytes of an answer. The answer of a large provider has 20 keys in 30 KiB. */
const maxBytes = 1024 * 1024;

const answerMs = 5_000;

const keySetSchema = z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })).max(1_000) });
const discoverySchema = z.looseObject({ issuer: z.string(), jwks_uri: z.string() });

/** Returns whether keys may be fetched from a URL, because the URL is encrypted or points to this machine. */
export type IsSafeAddress = (address: string) => boolean;

/**
 * Reads the current keys of an issuer. Redirects are not followed.
 * @throws an Error that states what is wrong
 */
export async function fetchKeys(source: KeysOfIssuer, isSafe: IsSafeAddress): Promise<JSONWebKeySet> {
  const { issuer, jwksUri, jwksFile, jwks, ca } = source;
  if (jwks) return jwks;
  if (jwksFile !== undefined) return parseKeySet(JSON.parse(await readFile(jwksFile, 'utf8')));
  const certificates = ca === undefined ? undefined : [...rootCertificates, await readFile(ca, 'utf8')];
  const agent = new Agent({
    maxResponseSize: maxBytes,
    connect: { timeout: answerMs, ...(certificates && { ca: certificates }) },
  });
  try {
    return parseKeySet(await getJson(jwksUri ?? (await discover(issuer, isSafe, agent)), agent));
  } finally {
    await agent.destroy();
  }
}

/** Returns the URL of the keys that an issuer states (OpenID Connect Discovery 1.0, section 4). */
async function discover(issuer: string, isSafe: IsSafeAddress, agent: Agent): Promise<string> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const { data } = discoverySchema.safeParse(await getJson(address, agent));
  if (!data) throw new Error(`${address} does not say where the keys are`);
  if (data.issuer !== issuer) throw new Error(`${address} is of the issuer ${data.issuer}`);
  if (!isSafe(data.jwks_uri))
    throw new Error(`${address} names the keys at ${data.jwks_uri}, which is no https address`);
  return data.jwks_uri;
}

async function getJson(address: string, agent: Agent): Promise<unknown> {
  const signal = AbortSignal.timeout(answerMs);
  const headers = { accept: 'application/json, application/jwk-set+json' };
  const { statusCode, body } = await request(address, { dispatcher: agent, signal, headers });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${address} answers ${statusCode}`);
  return JSON.parse(text);
}

function parseKeySet(read: unknown): JSONWebKeySet {
  const { data } = keySetSchema.safeParse(read);
  if (!data) throw new Error('what was read is no set of keys');
  return data;
}
