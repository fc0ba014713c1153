import { writeFileSync } from 'node:fs';
import { createSecretKey } from 'node:crypto';
import { decodeProtectedHeader, exportSPKI, importJWK, SignJWT, type CryptoKey } from 'jose';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { ExternalAccounts } from '#shared/accounts/sign-in/external-accounts/external-accounts.ts';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { readUsage } from '../../helpers/accounts/read-usage.ts';
import { batchClients, chatLine, submit, untilBatch } from '../../helpers/batches/batch-clients.ts';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { statusWith } from '../../helpers/clients/status-with.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { withRegistry } from '../../helpers/cluster/with-registry.ts';
import type { ConsoleClient } from '../../helpers/console/console-client.ts';
import { firstAdministrator } from '../../helpers/console/first-administrator.ts';
import { inviteToConsole } from '../../helpers/console/open-as.ts';
import { startTokenIssuer } from '../../helpers/upstreams/start-token-issuer.ts';
import { clientId, startTokenProvider } from '../../helpers/upstreams/start-token-provider.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

const provider = useStarted(() => startTokenProvider((email) => !email.startsWith('mallory')));
const ci = useStarted(() => startTokenIssuer());
let otherUrl: string;
let ada: ConsoleClient;
let registryFile: string;

const registry = (team = 'Research'): string => `
token_issuers:
  - issuer: ${provider.issuer}
    audiences: [${clientId}]
    claude_desktop: { client_id: ${clientId}, scopes: [openid, email], settings: { disableAutoUpdates: true } }
    rules:
      - match: { sub: robot }
        service_account: { name: robot }
      - match: { sub: linked* }
        person: account
      - person: email
  - issuer: ${ci.issuer}
    audiences: [router]
    rules:
      - match: { sub: "repo:acme/web:*" }
        team: ${team}
      - match: { sub: "repo:acme/train:*", ref: [refs/heads/main] }
        service_account:
          name: trainer
          class: low
          models: [auto]
          tiers: [gpu]
          tools: [calculator]
          limits: { requests_per_minute: 2 }
      - match: { sub: ada }
        person: ada@example.com
`;

const cluster = useStarted(() => {
  const ingress = withRegistry(registry());
  registryFile = String(ingress['ROUTER_CONFIG']);
  return startCluster({ ingress });
});
beforeAll(async () => {
  otherUrl = (await cluster.addIngress()).url;
  ({ client: ada } = await firstAdministrator(cluster));
  await ada.post('/teams', { name: 'Research' });
});

interface Answer {
  status: number;
  message: string;
}

async function answerTo(answer: Response): Promise<Answer> {
  const body = (await answer.json()) as { error?: { message: string } };
  return { status: answer.status, message: body.error?.message ?? '' };
}

async function ask(token: string, url = cluster.url): Promise<Answer> {
  const body = { model: 'auto', max_tokens: 20, messages: [{ role: 'user', content: 'Hello!' }] };
  return answerTo(await post({ url, key: token, path: '/anthropic/v1/messages', body }));
}

/** The models that a token may use; the API for it words refusals as the router does. */
const models = async (token: string): Promise<Answer> => answerTo(await get(token, '/openai/v1/models'));

const get = (token: string, path: string) =>
  fetch(`${cluster.url}/api${path}`, { headers: { authorization: `Bearer ${token}` } });

const refused = (status: number, message: string) => {
  return { status, message: expect.stringContaining(message) as string };
};

const statusOf = (token: string, url = cluster.url): Promise<number> => statusWith(url, token);

/** Somebody whom Ada has invited. */
const invited = async (name: string): Promise<string> => (await inviteToConsole({ client: ada }, name)).id;

/** Sooner than an ingress reads an account again without being told, after half a minute. */
const toldMs = 15_000;

const sub = 'repo:acme/train:ref:refs/heads/main';
const ref = 'refs/heads/main';

describe('a token of an identity provider', () => {
  it('is a credential of its person, as id token and as access token, in either header and on every API', async () => {
    const { idToken, accessToken } = await provider.signIn('ada');
    expect(decodeProtectedHeader(accessToken).typ).toBe('at+jwt');
    for (const token of [idToken, accessToken]) {
      expect(await ask(token)).toEqual({ status: 200, message: '' });
      for (const url of [cluster.url, otherUrl]) expect(await statusOf(token, url)).toBe(200);
    }
    const other = await fetch(`${cluster.url}/api/anthropic/v1/models`, { headers: { 'x-api-key': idToken } });
    expect(other.status).toBe(200);
    const adaId = String((await ada.get('/session')).body.user.id);
    const mine = async () => (await readUsage(cluster.prefix)).filter(({ owner }) => owner?.id === adaId);
    await until(async () => (await mine()).length === 2);
    const [newest] = await mine();
    expect(newest).toMatchObject({ key: { id: `session:${adaId}`, name: 'Ada' }, owner: { kind: 'user', id: adaId } });
  });

  it('is a credential of the person who signs in to the console with its subject', async () => {
    const { idToken } = await provider.signIn('linked');
    expect(await models(idToken)).toMatchObject(refused(403, 'Sign in to the console'));
    const userId = await invited('dora');
    const { connection, prefix } = await openKeyStore(inject('redisUrl'), `${cluster.prefix}:`);
    const keys = { externalAccountSealer: () => undefined };
    const externals = new ExternalAccounts(connection.redis, prefix, { keys, report: () => undefined });
    const account = { provider: 'company', issuer: provider.issuer, subject: 'linked' };
    await externals.link({ id: userId, email: 'dora@example.com' }, account);
    await until(async () => (await statusOf(idToken)) === 200);
    await ada.patch(`/users/${userId}`, { blocked: true });
    await until(async () => (await statusOf(idToken)) === 403, toldMs);
  });

  it('is within the limits of its person', async () => {
    const id = await invited('bob');
    await ada.patch(`/users/${id}`, { limits: { requestsPerMinute: 1 } });
    const { idToken } = await provider.signIn('bob');
    expect((await ask(idToken)).status).toBe(200);
    expect(await ask(idToken, otherUrl)).toMatchObject(refused(429, 'this user may use 1 requests'));
  });

  it('of somebody without an account, or whose address is not verified, is refused with what to ask for', async () => {
    await invited('mallory');
    const [unknown, unverified] = [await provider.signIn('eve'), await provider.signIn('mallory')];
    const advice = 'No account has the address eve@example.com. Ask an administrator';
    expect(await ask(unknown.idToken)).toMatchObject(refused(403, advice));
    expect(await ask(unverified.idToken)).toMatchObject(refused(403, 'no verified e-mail address'));
  });

  it('of a person who is blocked is refused on every ingress within seconds, and works again afterwards', async () => {
    const id = await invited('carol');
    const { idToken } = await provider.signIn('carol');
    const statuses = () => Promise.all([cluster.url, otherUrl].map((url) => statusOf(idToken, url)));
    expect(await statuses()).toEqual([200, 200]);
    await ada.patch(`/users/${id}`, { blocked: true });
    await until(async () => (await statuses()).every((status) => status === 403), toldMs);
    expect((await ask(idToken)).message).toContain('blocked');
    await ada.patch(`/users/${id}`, { blocked: false });
    await until(async () => (await statuses()).every((status) => status === 200));
  });

  it('gets the configuration of Claude Desktop for its person, which other credentials do not', async () => {
    const { idToken } = await provider.signIn('ada');
    const path = '/anthropic/bootstrap';
    const answer = await get(idToken, path);
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
    const body = (await answer.json()) as Record<string, unknown>;
    expect(body).toEqual({
      disableAutoUpdates: true,
      inferenceProvider: 'gateway',
      inferenceGatewayBaseUrl: `${cluster.url}/api/anthropic`,
      inferenceCredentialKind: 'interactive',
      inferenceGatewayOidc: expect.any(String) as string,
      inferenceModels: expect.arrayContaining(['auto']) as string[],
    });
    const oidc = { issuer: provider.issuer, clientId, scopes: ['openid', 'email'] };
    expect(JSON.parse(String(body['inferenceGatewayOidc']))).toEqual(oidc);
    expect((await fetch(`${cluster.url}/api${path}`)).status).toBe(401);
    for (const token of [cluster.key, await ci.sign({ sub: 'repo:acme/web:x' })])
      expect((await get(token, path)).status).toBe(403);
  });
});

describe('a token of a workload', () => {
  it('uses the account of a team', async () => {
    const token = await ci.sign({ sub: 'repo:acme/web:pull_request' });
    expect((await ask(token)).status).toBe(200);
    await until(async () => (await readUsage(cluster.prefix)).some(({ owner }) => owner?.kind === 'team'));
    const record = (await readUsage(cluster.prefix)).find(({ owner }) => owner?.kind === 'team');
    expect(record?.key).toEqual({ id: `team:${record?.owner?.id}`, name: 'Research' });
  });

  it('is a service account with limits, and the usage page shows its name', async () => {
    const token = await ci.sign({ sub, ref });
    expect((await ask(token)).status).toBe(200);
    expect((await ask(token, otherUrl)).status).toBe(200);
    expect(await ask(token)).toMatchObject({ status: 429 });
    const shown = async () => (await ada.get('/usage/requests')).body.requests as { key: object; owner?: object }[];
    const mine = async () => (await shown()).find(({ key }) => 'id' in key && key.id === 'service:trainer');
    await until(async () => (await mine()) !== undefined);
    const request = await mine();
    expect(request).toMatchObject({ key: { name: 'trainer' } });
    expect(request?.owner).toBeUndefined();
  });

  it('may use what the registry grants to its service account only', async () => {
    const token = await ci.sign({ sub, ref });
    const list = (await (await get(token, '/openai/v1/models')).json()) as { data: { id: string }[] };
    expect(list.data.map(({ id }) => id)).toEqual(['auto']);
    expect((await get(token, '/tools/v1/list')).status).toBe(403);
  });

  it('has batches served under its name, and tools and models by MCP and the SDKs', async () => {
    const runner = await cluster.addBatchRunner({ ROUTER_CONFIG: registryFile });
    const { idToken } = await provider.signIn('robot');
    const { openai, anthropic } = batchClients({ url: otherUrl, key: idToken });
    const ids = (await anthropic.models.list()).data.map(({ id }) => id);
    expect(ids).toContain('auto');
    const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
    const headers = { accept: 'application/json, text/event-stream' };
    expect((await post({ url: cluster.url, key: idToken, path: '/tools/mcp', body, headers })).status).toBe(200);
    const { id } = await submit(openai, [chatLine('one', 'Hi.')]);
    const batch = await untilBatch(openai, id);
    expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 1, completed: 1 } });
    const mine = async () => (await readUsage(cluster.prefix)).filter(({ key }) => key.id === 'service:robot');
    await until(async () => (await mine()).length === 1);
    expect((await mine())[0]).toMatchObject({ key: { name: 'robot' }, outcome: 'done' });
    await runner.stop();
  });

  it('is refused where no rule is for it, with the subject to ask for', async () => {
    for (const claims of [{ sub: 'repo:evil/web:x' }, { sub, ref: 'refs/heads/other' }, { sub }]) {
      const answer = await ask(await ci.sign(claims));
      expect(answer).toMatchObject(refused(403, `a rule for the subject \`${claims.sub}\``));
    }
  });

  it('follows the rules as they are edited', async () => {
    const token = await ci.sign({ sub: 'repo:acme/web:push' });
    expect(await statusOf(token)).toBe(200);
    writeFileSync(registryFile, registry('Nobody'));
    await until(async () => (await statusOf(token)) === 403);
    expect((await ask(token)).message).toContain('The team Nobody');
    writeFileSync(registryFile, registry());
    await until(async () => (await statusOf(token)) === 200);
  });
});

describe('a token is refused', () => {
  const now = Math.floor(Date.now() / 1_000);

  it.each<[string, Record<string, unknown>, string]>([
    ['another audience', { aud: 'other' }, 'audience'],
    ['no audience', { aud: undefined }, 'audience'],
    ['another issuer', { iss: 'https://id.example.com' }, 'issuer'],
    ['an issuer with a slash more', { iss: 'slash' }, 'issuer'],
    ['its time over', { exp: now - 90 }, 'expired'],
    ['no end', { exp: undefined }, '`exp`'],
    ['a beginning that is to come', { nbf: now + 600 }, 'not valid yet'],
    ['no subject', { sub: undefined }, '`sub`'],
  ])('with %s', async (_, claims, reason) => {
    const iss = claims['iss'] === 'slash' ? { iss: `${ci.issuer}/` } : {};
    expect(await models(await ci.sign({ sub: 'ada', ...claims, ...iss }))).toMatchObject(refused(401, reason));
  });

  it('not for a clock that is a minute off', async () => {
    const seconds = (): number => Math.floor(Date.now() / 1_000);
    expect(await statusOf(await ci.sign({ sub: 'ada', exp: seconds() - 20, nbf: now - 300 }))).toBe(200);
    expect(await statusOf(await ci.sign({ sub: 'ada', nbf: seconds() + 30 }))).toBe(200);
  });

  it('with the algorithm none, with the public key as a secret, and with an algorithm that is not on the list', async () => {
    const [jwk = {}] = ci.jwks().keys;
    const good = await ci.sign({ sub: 'ada' });
    const [, claims = ''] = good.split('.');
    const header = (fields: object): string => Buffer.from(JSON.stringify(fields)).toString('base64url');
    const pem = await exportSPKI((await importJWK(jwk, 'RS256', { extractable: true })) as CryptoKey);
    const payload = JSON.parse(Buffer.from(claims, 'base64url').toString()) as Record<string, unknown>;
    const confused = await new SignJWT(payload)
      .setProtectedHeader({ alg: 'HS256', kid: String(jwk.kid) })
      .sign(createSecretKey(Buffer.from(pem)));
    const tokens = [
      `${header({ alg: 'none' })}.${claims}.`,
      `${header({ alg: 'none', kid: jwk.kid })}.${claims}.e30`,
      confused,
      good.replace(/[^.]+$/, (signature) => signature.split('').toReversed().join('')),
      `${good}x`,
      await ci.sign({ sub: 'ada' }, { typ: 'logout+jwt' }),
    ];
    expect(await Promise.all(tokens.map((token) => statusOf(token)))).toEqual([401, 401, 401, 401, 401, 401]);
    expect(await statusOf(good)).toBe(200);
    await ci.rotate('ES384');
    expect(await models(await ci.sign({ sub: 'ada' }))).toMatchObject(refused(401, 'algorithm'));
  });
});
