import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { get, post } from '../helpers/clients/keyed-requests.ts';
import { ConsoleClient } from '../helpers/console/console-client.ts';
import { shareCluster, type SharedCluster } from '../helpers/cluster/share-cluster.ts';
import { withRegistry } from '../helpers/cluster/with-registry.ts';
import { newAdministrator, newEmail } from '../helpers/console/new-administrator.ts';
import { goodPassword } from '../helpers/console/good-password.ts';
import { makeKey } from '../helpers/console/make-key.ts';
import { inviteToConsole, type SignedInPerson } from '../helpers/console/open-as.ts';
import { grantAccess, knownClient, startProtectedMcp } from '../helpers/upstreams/start-protected-mcp.ts';
import { serveHttp } from '../helpers/servers/serve-http.ts';
import { until } from '../helpers/until.ts';
import { useStarted } from '../helpers/use-started.ts';

/** The configured public address. Nothing listens there in this test. */
const publicUrl = 'https://llm.example.com';

/** A person with a sign-in session of the console and a key. */
interface Person {
  id: string;
  client: ConsoleClient;
  key: string;
}

let cluster: SharedCluster;
let otherUrl: string;
let redis: Redis;
let admin: Person;
let grace: Person;
let alan: Person;

const notes = useStarted(() => startProtectedMcp([`${publicUrl}/connections`]));
const impostor = useStarted(() => startImpostor());
beforeAll(async () => {
  const oauth = { clientId: knownClient.id, clientSecret: '${KNOWN_SECRET}', scopes: ['notes'] };
  const registry = withRegistry(
    JSON.stringify({
      mcpServers: {
        notes: { url: notes.url, auth: 'oauth' },
        known: { url: notes.url, auth: 'oauth', oauth },
        impostor: { url: impostor.url, auth: 'oauth' },
        inside: { url: 'http://10.0.0.1/mcp', auth: 'oauth' },
      },
    }),
  );
  const settings = { PUBLIC_URL: publicUrl, OAUTH_NETWORKS: '127.0.0.1', KNOWN_SECRET: knownClient.secret };
  const ingress = { ...registry, ...settings, NO_WORKER_TIMEOUT_MS: '2000' };
  cluster = await shareCluster({ ingressOnce: ingress });
  ({ url: otherUrl } = await cluster.otherIngress());
  await cluster.addToolsWorker(registry);
  redis = new Redis(inject('redisUrl'));
  admin = await withKey(await newAdministrator(cluster));
  [grace, alan] = await Promise.all([join('grace'), join('alan')]);
});

afterAll(async () => {
  await cluster?.stop();
  await redis?.quit();
});

/** Starts an MCP server whose authorization server has metadata of another issuer. */
async function startImpostor() {
  const { url, stop } = await serveHttp((request, response) => {
    const origin = `http://${request.headers.host}`;
    const answer = (body: object): void =>
      void response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    if (request.url?.includes('protected-resource'))
      return answer({ resource: `${origin}/mcp`, authorization_servers: [origin] });
    if (request.url?.includes('oauth-authorization-server'))
      return answer({
        issuer: 'https://login.example.com',
        authorization_endpoint: `${origin}/auth`,
        token_endpoint: `${origin}/token`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      });
    return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
  });
  return { url: `${url}/mcp`, stop };
}

async function withKey({ client, id }: SignedInPerson): Promise<Person> {
  return { id, client, key: (await makeKey(client)).raw };
}

async function join(name: string): Promise<Person> {
  return withKey(await inviteToConsole(admin, name, { email: newEmail(name) }));
}

async function begin({ client }: Person, server = 'notes'): Promise<string> {
  const { status, body } = await client.post(`/connections/${server}`);
  expect({ status, body }).toMatchObject({ status: 200 });
  return String(body.url);
}

/** Returns the request of a page to which an authorization server has redirected. */
function answerIn({ searchParams }: URL): Record<string, string> {
  return Object.fromEntries([...searchParams].filter(([name]) => ['state', 'code', 'iss'].includes(name)));
}

async function connect(person: Person, login: string, server = 'notes'): Promise<void> {
  const back = await grantAccess(await begin(person, server), login);
  expect(`${back.origin}${back.pathname}`).toBe(`${publicUrl}/connections`);
  expect(await person.client.post('/connections', answerIn(back))).toMatchObject({ status: 200, body: { server } });
}

async function stateOf({ client }: Person): Promise<string> {
  const { body } = await client.get('/connections');
  return (body as { server: string; state: string }[]).find(({ server }) => server === 'notes')?.state ?? '';
}

async function execute(key: string, tool: string, url = cluster.url): Promise<{ status: number; body: unknown }> {
  const answer = await post({ url, key, path: '/tools/v1/execute', body: { tool, input: {} } });
  return { status: answer.status, body: await answer.json() };
}

async function listed(key: string): Promise<string[]> {
  const answer = await get({ ...cluster, key }, '/tools/v1/list');
  const { data } = (await answer.json()) as { data: { name: string; server?: string }[] };
  return data.filter(({ server }) => server === 'notes').map(({ name }) => name);
}

function saidBy(name: string) {
  return { status: 200, body: { tool: 'notes_whoami', is_error: false, content: [{ type: 'text', text: name }] } };
}

const failing = (status: number, code: string) => (words: string) => ({
  status,
  body: { error: { code, message: expect.stringContaining(words) } },
});
const required = failing(403, 'connection_required');
const refused = failing(422, 'not_connected');

describe('an MCP server that people connect to', () => {
  it('shows each person their own tools, and is called as that person', async () => {
    await connect(grace, 'grace');
    await connect(alan, 'alan');
    expect(await listed(grace.key)).toEqual(['notes_payroll', 'notes_whoami']);
    expect(await listed(alan.key)).toEqual(['notes_whoami']);
    expect(await execute(grace.key, 'notes_whoami')).toMatchObject(saidBy('grace'));
    expect(await execute(alan.key, 'notes_whoami')).toMatchObject(saidBy('alan'));
    expect(await execute(alan.key, 'notes_payroll')).toMatchObject({ status: 404 });
    expect(await stateOf(grace)).toBe('connected');
  });

  it('is hidden from people without a connection, whose calls fail with the place to connect', async () => {
    expect(await stateOf(admin)).toBe('none');
    expect(await listed(admin.key)).toEqual([]);
    expect(await execute(admin.key, 'notes_whoami')).toMatchObject(required(`${publicUrl}/connections`));
    expect(await execute(cluster.key, 'notes_whoami')).toMatchObject(required('personal key'));
    expect(await listed(cluster.key)).toEqual([]);
  });

  it('behaves the same for MCP clients', async () => {
    const names = async (key: string) => (await mcp(key, (client) => client.listTools())).tools.map(({ name }) => name);
    expect(await names(grace.key)).toContain('notes_payroll');
    expect(await names(alan.key)).not.toContain('notes_payroll');
    const call = (key: string) => mcp(key, (client) => client.callTool({ name: 'notes_whoami', arguments: {} }));
    expect(await call(alan.key)).toMatchObject({ content: [{ type: 'text', text: 'alan' }] });
    expect(await call(admin.key)).toMatchObject({
      isError: true,
      content: [{ type: 'text', text: expect.stringContaining(`${publicUrl}/connections`) }],
    });
  });

  it('gets requests from the client that the operator has configured, whose secret the worker does not have', async () => {
    const registrations = () => notes.asked.filter((path) => path === '/reg').length;
    const before = registrations();
    await connect(grace, 'grace', 'known');
    expect(await execute(grace.key, 'known_whoami')).toMatchObject({ body: { content: [{ text: 'grace' }] } });
    expect(registrations()).toBe(before);
    const token = await notes.provider.AccessToken.find(notes.tokens.at(-1) ?? '');
    expect(token?.clientId).toBe(knownClient.id);
  });

  it('may be named as a hosted tool by people with a connection', async () => {
    const server = { server_label: 'notes', server_url: 'https://notes.test/mcp' };
    const tools = [{ type: 'mcp', ...server, require_approval: 'never' }];
    const body = { model: 'demo', input: '[demo call mcp_notes_whoami {}]', tools, store: false };
    const ask = async (key: string): Promise<unknown> =>
      (await post({ url: cluster.url, key, path: '/openai/v1/responses', body })).json();
    const called = { type: 'mcp_call', name: 'whoami', output: 'alan' };
    const listing = { type: 'mcp_list_tools', server_label: 'notes', tools: [{ name: 'whoami' }] };
    expect(await ask(alan.key)).toMatchObject({ output: [listing, called, { type: 'message' }] });
    expect(await ask(admin.key)).toMatchObject({ error: { param: 'tools[0].type' } });
  });

  it('is subject to the list of tools of a key', async () => {
    const { raw: key } = await makeKey(grace.client, { tools: ['notes_whoami'] });
    expect(await listed(key)).toEqual(['notes_whoami']);
    expect(await execute(key, 'notes_whoami')).toMatchObject(saidBy('grace'));
    const denied = { status: 403, body: { error: { code: 'permission_denied', param: 'tool' } } };
    expect(await execute(key, 'notes_payroll')).toMatchObject(denied);
  });

  it('is listed for each key within its own limits', async () => {
    const { raw: limited } = await makeKey(grace.client, { limits: { requestsPerMinute: 1 } });
    expect(await execute(limited, 'notes_whoami')).toMatchObject(saidBy('grace'));
    // The connection is new, so that its list is not cached.
    await connect(grace, 'grace');
    const list = (key: string) => get({ ...cluster, key }, '/tools/v1/list');
    const [refusal, answer] = await Promise.all([list(limited), list(grace.key)]);
    expect([refusal.status, answer.status]).toEqual([429, 200]);
    expect(await answer.text()).toContain('notes_whoami');
  });

  it('gets tokens that are in clear text neither in Redis nor in a log', async () => {
    expect(notes.tokens.length).toBeGreaterThan(0);
    const stored = JSON.stringify(await redis.hgetall(`${cluster.prefix}:connections-of:${grace.id}`));
    expect(stored).toContain('notes');
    const logs = JSON.stringify([cluster.ingress.lines, ...cluster.workers.map(({ lines }) => lines)]);
    for (const token of notes.tokens) {
      expect(stored).not.toContain(token);
      expect(logs).not.toContain(token);
    }
  });

  it('gets one refresh for many calls on two ingress nodes', async () => {
    notes.setLifetime(1);
    await connect(grace, 'grace');
    expect(await execute(grace.key, 'notes_whoami')).toMatchObject(saidBy('grace'));
    const before = refreshes();
    notes.setLifetime(3_600);
    const used = await notes.provider.AccessToken.find(notes.tokens.at(-1) ?? '');
    await until(() => expect(used?.exp).toBeLessThan(Date.now() / 1_000));
    const urls = Array.from({ length: 12 }, (_, at) => (at % 2 === 0 ? cluster.url : otherUrl));
    const answers = await Promise.all(urls.map((url) => execute(grace.key, 'notes_whoami', url)));
    for (const answer of answers) expect(answer).toMatchObject(saidBy('grace'));
    expect(refreshes() - before).toBe(1);
  });

  it('that refuses a token gets a new one, and the call', async () => {
    await execute(grace.key, 'notes_whoami');
    const [before, token] = [refreshes(), notes.tokens.at(-1) ?? ''];
    notes.refuse(token);
    expect(await execute(grace.key, 'notes_whoami')).toMatchObject(saidBy('grace'));
    expect(refreshes() - before).toBe(1);
    expect(notes.tokens.at(-1)).not.toBe(token);
  });

  it('whose authorization server is away serves as long as the token lasts, and again when it is back', async () => {
    // Long enough for the next two calls.
    notes.setLifetime(12);
    await connect(alan, 'alan');
    notes.breakTokens(true);
    onTestFinished(() => notes.breakTokens(false));
    expect(await execute(alan.key, 'notes_whoami')).toMatchObject(saidBy('alan'));
    const used = await notes.provider.AccessToken.find(notes.tokens.at(-1) ?? '');
    await until(() => expect(used?.exp).toBeLessThan(Date.now() / 1_000));
    const away = { status: 502, body: { error: { message: expect.stringContaining('does not refresh') } } };
    expect(await execute(alan.key, 'notes_whoami')).toMatchObject(away);
    expect(await stateOf(alan)).toBe('connected');
    notes.setLifetime(3_600);
    notes.breakTokens(false);
    expect(await execute(alan.key, 'notes_whoami')).toMatchObject(saidBy('alan'));
  });

  it('with nothing left of its grant is shown as expired, until the person connects again', async () => {
    await execute(alan.key, 'notes_whoami');
    const token = await notes.provider.AccessToken.find(notes.tokens.at(-1) ?? '');
    const { grantId = '' } = token ?? {};
    const { AccessToken, RefreshToken } = notes.provider;
    await Promise.all([AccessToken, RefreshToken].map((kind) => kind.revokeByGrantId(grantId)));
    expect(await execute(alan.key, 'notes_whoami')).toMatchObject(required('has expired'));
    expect(await stateOf(alan)).toBe('expired');
    expect(await listed(alan.key)).toEqual([]);
    await connect(alan, 'alan');
    expect(await execute(alan.key, 'notes_whoami')).toMatchObject(saidBy('alan'));
  });

  it('loses the grant when the person disconnects, and is notified', async () => {
    await execute(alan.key, 'notes_whoami');
    const used = notes.tokens.at(-1) ?? '';
    expect(await notes.provider.AccessToken.find(used)).toBeDefined();
    expect(await alan.client.delete('/connections/notes')).toMatchObject({ status: 204 });
    expect(await redis.exists(`${cluster.prefix}:connections-of:${alan.id}`)).toBe(0);
    expect(notes.asked.at(-1)).toBe('/token/revocation');
    expect(await notes.provider.AccessToken.find(used)).toBeUndefined();
    expect(await execute(alan.key, 'notes_whoami')).toMatchObject(required('not connected'));
    expect(await alan.client.delete('/connections/notes')).toMatchObject({ status: 404 });
  });

  it('loses the grant when the person is blocked', async () => {
    const edsger = await join('edsger');
    await connect(edsger, 'edsger');
    const name = `${cluster.prefix}:connections-of:${edsger.id}`;
    expect(await redis.exists(name)).toBe(1);
    await admin.client.patch(`/users/${edsger.id}`, { blocked: true });
    expect(await redis.exists(name)).toBe(0);
  });
});

describe('an answer of an authorization server', () => {
  it('counts for the person and the session that requested it, and once', async () => {
    const back = answerIn(await grantAccess(await begin(alan), 'mallory'));
    // Mallory makes Grace's browser send it, so that Grace would use Mallory's account.
    expect(await grace.client.post('/connections', back)).toMatchObject(refused('belong to an attempt of yours'));
    expect(await alan.client.post('/connections', back)).toMatchObject(refused('it is over'));

    const second = answerIn(await grantAccess(await begin(alan), 'alan'));
    const elsewhere = new ConsoleClient(cluster.url);
    const { email } = (await alan.client.get('/session')).body.user;
    expect((await elsewhere.signIn(email, goodPassword)).status).toBe(200);
    expect(await elsewhere.post('/connections', second)).toMatchObject(refused('does not belong'));

    const third = answerIn(await grantAccess(await begin(alan), 'alan'));
    const guessed = await alan.client.post('/connections', { ...third, state: 'A'.repeat(43) });
    expect(guessed).toMatchObject(refused('does not belong'));
    expect(await alan.client.post('/connections', third)).toMatchObject({ status: 200 });
    expect(await alan.client.post('/connections', third)).toMatchObject(refused('it is over'));
    expect(await execute(alan.key, 'notes_whoami')).toMatchObject(saidBy('alan'));
  });

  it('of another issuer than the requested one is refused', async () => {
    const back = answerIn(await grantAccess(await begin(admin), 'ada'));
    expect(back['iss']).toBe(notes.issuer);
    const forged = { ...back, iss: 'https://login.example.com' };
    expect(await admin.client.post('/connections', forged)).toMatchObject(refused('as another one'));
    const { iss: _, ...without } = answerIn(await grantAccess(await begin(admin), 'ada'));
    expect(await admin.client.post('/connections', without)).toMatchObject(refused('as another one'));
    expect(await stateOf(admin)).toBe('none');
  });

  it('that denies access does not connect the person', async () => {
    const state = new URL(await begin(admin)).searchParams.get('state');
    expect(await admin.client.post('/connections', { state })).toMatchObject(refused('not granted'));
  });

  it('is requested with PKCE, for this server alone, and with the redirect address', async () => {
    const { searchParams } = new URL(await begin(admin));
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      resource: notes.url,
      scope: 'notes offline_access',
      redirect_uri: `${publicUrl}/connections`,
    });
  });
});

describe('a connection is refused', () => {
  it.each([
    ['if the metadata are of another issuer', 'impostor', refused('as another one')],
    ['to an address of this network that is not listed', 'inside', refused('its address is not public')],
    ['to a server that is not in the registry', 'unknown', { status: 404 }],
  ])('%s', async (_, server, answer) => {
    expect(await admin.client.post(`/connections/${server}`)).toMatchObject(answer);
  });

  it('if the person tries too often', async () => {
    const ken = await join('ken');
    const asked = notes.asked.length;
    const answers = [];
    for (let attempt = 0; attempt < 21; attempt += 1) answers.push(await ken.client.post('/connections/notes'));
    expect(answers.map(({ status }) => status)).toEqual([...Array.from({ length: 20 }, () => 200), 422]);
    expect(answers.at(-1)?.body).toMatchObject({ error: { message: expect.stringContaining('too often') } });
    expect(notes.asked.slice(asked).filter((path) => path === '/reg')).toHaveLength(20);
  });
});

/** Returns the number of token requests so far that were not for a code. */
function refreshes(): number {
  return notes.asked.filter((path) => path === '/token').length;
}

async function mcp<T>(key: string, ask: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  const transport = new StreamableHTTPClientTransport(new URL(`${cluster.url}/api/tools/mcp`), { requestInit });
  await client.connect(transport);
  try {
    return await ask(client);
  } finally {
    await client.close();
  }
}
