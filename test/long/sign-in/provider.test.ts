import { writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { openKeyStore } from '../../helpers/accounts/open-key-store.ts';
import { CookieClient, type Visited } from '../../helpers/clients/cookie-client.ts';
import { refresh, signInProgram } from '../../helpers/clients/device-flow.ts';
import { statusWith } from '../../helpers/clients/status-with.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { withRegistry } from '../../helpers/cluster/with-registry.ts';
import { AdminClient } from '../../helpers/console/admin-client.ts';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { firstAdministrator } from '../../helpers/console/first-administrator.ts';
import { goodPassword } from '../../helpers/console/good-password.ts';
import { inviteToConsole } from '../../helpers/console/open-as.ts';
import { loginClient, startLoginProvider, type LoginProvider } from '../../helpers/upstreams/start-login-provider.ts';
import { until } from '../../helpers/until.ts';

let cluster: Cluster;
let otherUrl: string;
let registryFile: string;
let provider: LoginProvider;
let second: LoginProvider;
let ada: ConsoleClient;

beforeAll(async () => {
  const registry = withRegistry('{}');
  registryFile = registry['ROUTER_CONFIG'] ?? '';
  const ingress = { ...registry, COMPANY_SECRET: loginClient.secret };
  cluster = await startCluster({ workers: 0, engineUrl: 'http://127.0.0.1:1', ingress });
  otherUrl = (await cluster.addIngress()).url;
  const callbacks = (name: string) => [cluster.url, otherUrl].map((url) => `${url}/console/api/oidc/${name}/callback`);
  const starts = ['company', 'second'].map((name) => startLoginProvider(callbacks(name)));
  [provider, second] = (await Promise.all(starts)) as [LoginProvider, LoginProvider];
  ({ client: ada } = await firstAdministrator(cluster));
  await ada.post('/teams', { name: 'Research' });
  await configure();
});
afterAll(async () => {
  await provider.close();
  await second.close();
  await cluster.stop();
});
beforeEach(() => {
  provider.accounts.clear();
  provider.setLifetime(3_600);
  provider.break(false);
});

/** Puts the providers into the registry, and waits until all ingress nodes have read it. */
async function configure(company: object = {}): Promise<void> {
  const label = `Company ${Math.random()}`;
  const client = { client_id: loginClient.id, client_secret_env: 'COMPANY_SECRET' };
  const groups = [
    { group: 'admins', role: 'admin' },
    { group: 'scientists', teams: ['Research'] },
  ];
  const providers = [
    { name: 'company', label, issuer: provider.issuer, ...client, domains: ['example.com'], groups, ...company },
    { name: 'second', issuer: second.issuer, ...client, domains: ['*'] },
  ];
  writeFileSync(registryFile, JSON.stringify({ sign_in: { providers } }));
  for (const url of [cluster.url, otherUrl])
    await until(async () => (await (await fetch(`${url}/console/api/sign-in`)).text()).includes(label));
}

/** Somebody with a verified address, as the provider knows them. */
const account = (name: string, fields: object = {}) => {
  return { name, email: `${name.toLowerCase()}@example.com`, email_verified: true, ...fields };
};

/** Signs in at the provider, and returns where that leads; or stops before the router is called back. */
async function signIn(
  name: string,
  options: { browser?: CookieClient; url?: string; at?: string; to?: string; stops?: boolean } = {},
): Promise<Visited & { browser: CookieClient }> {
  const { browser = new CookieClient(), url = cluster.url, at = 'company', to = '/usage', stops = false } = options;
  const stopsAt = (next: URL): boolean =>
    next.host === new URL(url).host && (stops || !next.pathname.startsWith('/console/'));
  const start = `${url}/console/api/oidc/${at}/start?to=${encodeURIComponent(to)}`;
  let page = await browser.visit(start, { stopsAt });
  for (const form of [{ prompt: 'login', login: name, password: 'any' }, { prompt: 'consent' }]) {
    if (page.status === 0) break;
    const [, action] = /<form[^>]* action="([^"]+)"/.exec(page.text) ?? [];
    page = await browser.visit(new URL(action ?? '', page.url), { form, stopsAt });
  }
  return { ...page, browser };
}

/** Somebody with a password, whom Ada has invited. */
const invited = async (name: string): Promise<ConsoleClient> => (await inviteToConsole({ client: ada }, name)).client;

/** Sooner than an ingress reads a key again without being told, after half a minute. */
const toldMs = 15_000;

/** Who is signed in in a browser, by the console's API. */
async function personIn(browser: CookieClient, url = cluster.url) {
  const client = new ConsoleClient(url);
  client.cookie = browser.cookiesOf(url);
  const answer = await client.get('/session');
  return Object.assign(client, { answer });
}

describe('a colleague', () => {
  it('comes in by the domain of a verified address, at any ingress, and gets an account', async () => {
    provider.accounts.set('grace', { name: 'Grace', email: 'Grace@Example.com', email_verified: true });
    const { url, browser } = await signIn('grace', { url: otherUrl });
    expect(url.href).toBe(`${otherUrl}/usage`);
    const { answer } = await personIn(browser, otherUrl);
    expect(answer.body.user).toMatchObject({ name: 'Grace', email: 'grace@example.com', role: 'member', teams: [] });
    expect(answer.body.user.hasPassword).toBeUndefined();
    const again = await personIn((await signIn('grace')).browser);
    expect(again.answer.body.user.id).toBe(answer.body.user.id);
    expect((await ada.get('/users')).body.filter(({ name }: { name: string }) => name === 'Grace')).toHaveLength(1);
  });

  it('gets role and teams by group, and loses them by group at the next sign-in', async () => {
    const elsewhere = { email: 'marie@elsewhere.org' };
    provider.accounts.set('marie', account('Marie', { ...elsewhere, groups: ['admins', 'scientists', 'others'] }));
    const first = await personIn((await signIn('marie')).browser);
    expect(first.answer.body.user).toMatchObject({ role: 'admin', teams: [{ name: 'Research', role: 'member' }] });
    provider.accounts.set('marie', account('Marie', { ...elsewhere, groups: ['scientists'] }));
    expect((await personIn((await signIn('marie')).browser)).answer.body.user).toMatchObject({ role: 'member' });
    provider.accounts.set('marie', account('Marie', { groups: [] }));
    expect((await personIn((await signIn('marie')).browser)).answer.body.user).toMatchObject({ teams: [] });
  });

  it('with an account here is linked by the verified address, once, and what somebody had there before ends', async () => {
    const dora = await invited('dora');
    provider.accounts.set('dora', account('Dora', { name: 'Somebody' }));
    const linked = await personIn((await signIn('dora')).browser);
    expect(linked.answer.body.user).toMatchObject({ name: 'dora' });
    expect(linked.answer.body.user.hasPassword).toBeUndefined();
    expect((await dora.get('/session')).status).toBe(401);
    expect((await dora.signIn('dora@example.com', goodPassword)).status).toBe(401);
    // Another account at the provider with the same address is somebody else.
    provider.accounts.set('impostor', { email: 'dora@example.com', email_verified: true });
    const { url } = await signIn('impostor');
    expect(url.search).toBe('?sign-in=other_account');
    // So is one at another provider.
    second.accounts.set('dora', { email: 'dora@example.com', email_verified: true });
    expect((await signIn('dora', { at: 'second' })).url.search).toBe('?sign-in=other_account');
  });

  it('is not linked to the account of somebody who has typed the address in', async () => {
    const mallory = await invited('mallory');
    await mallory.post('/account/email', { email: 'hopper@example.com', password: goodPassword });
    provider.accounts.set('hopper', { email: 'hopper@example.com', email_verified: true, groups: ['admins'] });
    expect((await signIn('hopper')).url.search).toBe('?sign-in=unconfirmed_address');
    expect((await mallory.get('/session')).body.user).toMatchObject({ role: 'member' });
  });

  it('who is refused at the provider loses session, programs and admin tokens when the answer of the provider has ended', async () => {
    provider.accounts.set('joan', account('Joan'));
    provider.setLifetime(1);
    const { browser } = await signIn('joan');
    const joan = await personIn(browser);
    expect(joan.answer.status).toBe(200);
    const program = await signInProgram(cluster.url, joan);
    const { body: token } = await joan.post('/tokens', { name: 'ci', scopes: ['admin'] });
    const client = new AdminClient(cluster.url, String(token.raw));
    expect((await client.get('/keys')).status).toBe(200);
    await sleep(1_000);
    expect((await personIn(browser)).answer.status).toBe(200);
    provider.accounts.delete('joan');
    await until(async () => (await personIn(browser)).answer.status === 401);
    expect(await refresh(cluster.url, program.refreshToken)).toMatchObject({ status: 401 });
    expect((await client.get('/keys')).status).toBe(401);
    expect(await statusWith(otherUrl, program.accessToken)).toBe(401);
  });

  it('who is refused at the provider loses an admin token and a key that alone are used, and has the key again with a sign-in', async () => {
    for (const name of ['pat', 'quinn'])
      provider.accounts.set(name, { email: `${name}@example.com`, email_verified: true, groups: ['admins'] });
    provider.setLifetime(1);
    await configure({ scopes: ['openid', 'email', 'profile', 'offline_access'] });
    const pat = await personIn((await signIn('pat')).browser);
    const quinn = await personIn((await signIn('quinn')).browser);
    const { body: token } = await pat.post('/tokens', { name: 'ci', scopes: ['admin'] });
    const { body: key } = await quinn.post('/keys', { kind: 'user', name: 'laptop' });
    const admin = [cluster.url, otherUrl].map((url) => new AdminClient(url, String(token.raw)));
    const adminStatuses = async () => Promise.all(admin.map(async (client) => (await client.get('/users')).status));
    const keyStatus = (url: string) => statusWith(url, String(key.raw));
    expect(await adminStatuses()).toEqual([200, 200]);
    expect(await keyStatus(cluster.url)).toBe(200);
    provider.accounts.delete('pat');
    provider.accounts.delete('quinn');
    await sleep(1_500);
    // One node asks, which the other does not wait for.
    expect(await adminStatuses()).toContain(401);
    await until(async () => expect(await adminStatuses()).toEqual([401, 401]));
    // A node that reads the key has the provider asked, and lets the request pass.
    expect(await keyStatus(otherUrl)).toBe(200);
    const statuses = async () => [await keyStatus(cluster.url), await keyStatus(otherUrl)];
    await until(async () => (await statuses()).every((status) => status === 401), toldMs);
    const { id } = quinn.answer.body.user;
    const listed = (await ada.get('/users')).body.find((user: { id: string }) => user.id === id);
    expect(listed).toMatchObject({ blocked: false, refusedByProvider: true });
    provider.accounts.set('quinn', { email: 'quinn@example.com', email_verified: true });
    await signIn('quinn');
    await until(async () => (await statuses()).every((status) => status === 200), toldMs);
  });

  it('whom no provider can be asked about keeps admin tokens and keys', async () => {
    provider.accounts.set('rhea', { email: 'rhea@example.com', email_verified: true, groups: ['admins'] });
    const rhea = await personIn((await signIn('rhea')).browser);
    const { body: token } = await rhea.post('/tokens', { name: 'ci', scopes: ['admin'] });
    const { connection } = await openKeyStore(inject('redisUrl'));
    const { id } = rhea.answer.body.user;
    const name = `${cluster.prefix}:external-account:${id}`;
    await connection.redis.hset(name, 'goodUntil', Date.now() - 1);
    await connection.redis.hdel(name, 'sealedRefreshToken');
    const admin = new AdminClient(cluster.url, String(token.raw));
    const epoch = () => connection.redis.hget(`${cluster.prefix}:user:${id}`, 'epoch');
    expect((await admin.get('/users')).status).toBe(200);
    const before = await epoch();
    expect((await admin.get('/users')).status).toBe(200);
    expect(await epoch()).toBe(before);
  });

  it('gets nothing and loses nothing while the provider has been away for more than an hour', async () => {
    provider.accounts.set('niels', account('Niels'));
    const { browser } = await signIn('niels');
    const niels = await personIn(browser);
    const program = await signInProgram(cluster.url, niels);
    const { connection } = await openKeyStore(inject('redisUrl'));
    const name = `${cluster.prefix}:external-account:${niels.answer.body.user.id}`;
    await connection.redis.hset(name, 'goodUntil', Date.now() - 3_600_001);
    provider.break(true);
    const away = { status: 503, body: { error: { code: 'provider_away' } } };
    expect((await personIn(browser)).answer).toMatchObject(away);
    const refused = await refresh(otherUrl, program.refreshToken);
    expect(refused).toMatchObject({ status: 503, body: { error: 'temporarily_unavailable' } });
    expect(refused.headers.get('retry-after')).toBe('5');
    provider.break(false);
    const headers = { cookie: browser.cookiesOf(cluster.url) };
    const urls = [cluster.url, otherUrl, cluster.url, otherUrl];
    const answers = await Promise.all(urls.map((url) => fetch(`${url}/console/api/session`, { headers })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await refresh(otherUrl, program.refreshToken)).toMatchObject({ status: 200 });
  });

  it('signs out at the provider as well', async () => {
    provider.accounts.set('kurt', account('Kurt'));
    const kurt = await personIn((await signIn('kurt')).browser);
    const { status, body } = await kurt.delete('/session');
    expect(status).toBe(200);
    const page = new URL(body.url);
    expect(page.origin).toBe(provider.issuer);
    expect(page.searchParams.get('post_logout_redirect_uri')).toBe(`${cluster.url}/`);
    expect((await kurt.get('/session')).status).toBe(401);
  });
});

describe('a sign-in at a provider', () => {
  beforeEach(() => void provider.accounts.set('grace', account('Grace')));

  it('ends in the browser that began it, and once', async () => {
    const { url, browser } = await signIn('grace', { stops: true });
    // Of somebody who was lured to the address of an answer (login CSRF), and of a browser that has begun another one.
    const other = new CookieClient();
    expect((await other.visit(url, { stopsAt: isPage })).url.search).toBe('?sign-in=expired');
    await signIn('grace', { browser: other, stops: true });
    expect((await other.visit(url, { stopsAt: isPage })).url.search).toBe('?sign-in=expired');
    expect((await personIn(other)).answer.status).toBe(401);
    expect((await browser.visit(url, { stopsAt: isPage })).url.href).toBe(`${cluster.url}/usage`);
    expect((await browser.visit(url, { stopsAt: isPage })).url.search).toBe('?sign-in=expired');
  });

  it.each<[what: string, change: (params: URLSearchParams) => void]>([
    ['another code', (params) => params.set('code', 'guessed')],
    ['a second code', (params) => params.append('code', 'second')],
    ['the issuer of another provider', (params) => params.set('iss', second.issuer)],
  ])('is refused with %s', async (_, change) => {
    const { url, browser } = await signIn('grace', { stops: true });
    change(url.searchParams);
    expect((await browser.visit(url, { stopsAt: isPage })).url.search).toBe('?sign-in=denied');
    expect((await personIn(browser)).answer.status).toBe(401);
  });

  it('leads to pages of the console only', async () => {
    for (const to of ['https://evil.org/', '//evil.org', '/\\evil.org', 'evil', '/ok\n//evil.org', '/\t/evil.org']) {
      const { url } = await signIn('grace', { to });
      expect(url.href).toBe(`${cluster.url}/`);
    }
  });

  it('opens a session under a new id, whatever cookie the browser had', async () => {
    const browser = new CookieClient();
    browser.setCookie(cluster.url, 'rtr', 'A'.repeat(43));
    await signIn('grace', { browser });
    expect(browser.cookiesOf(cluster.url)).toMatch(/\brtr=[\w-]{43}/);
    expect(browser.cookiesOf(cluster.url)).not.toContain('A'.repeat(43));
  });

  it('of a provider that cannot be reached ends on a page that says so', async () => {
    await configure({ issuer: 'http://127.0.0.1:1' });
    expect((await signIn('grace')).url.search).toBe('?sign-in=away');
    await configure();
  });
});

function isPage({ host, pathname }: URL): boolean {
  return host === new URL(cluster.url).host && !pathname.startsWith('/console/');
}
