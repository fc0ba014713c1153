import { describe, expect, inject, it, onTestFinished, vi } from 'vitest';
import { RouterError } from '#shared/core/errors.ts';
import { signInSchema } from '#shared/registry/sign-in.ts';
import { CookieClient, type Visited } from '../../../../helpers/clients/cookie-client.ts';
import { openConsole } from '../../../../helpers/console/open-console.ts';
import { startPausableProxy } from '../../../../helpers/servers/pausable-proxy.ts';
import { until } from '../../../../helpers/until.ts';
import { startCountedProvider } from '../../../../helpers/upstreams/start-counted-provider.ts';

const grace = { sub: 'grace', name: 'Grace', email: 'grace@example.com', email_verified: true };

/** A console at which people sign in at a provider, and what a browser does there. */
async function openWithProvider({ redisUrl, trustProxy }: { redisUrl?: string; trustProxy?: boolean } = {}) {
  const provider = await startCountedProvider();
  const company = { name: 'company', issuer: provider.issuer, client_id: 'router', domains: ['*'] };
  const second = { ...company, name: 'second', scopes: ['openid', 'offline_access'] };
  const signIn = signInSchema.parse({ providers: [company, second] });
  const open = await openConsole({ signIn, ...(redisUrl && { redisUrl }), ...(trustProxy && { trustProxy }) });
  const headers: Record<string, string> = trustProxy ? { 'x-forwarded-proto': 'https' } : {};
  const visit = (browser: CookieClient, path: string): Promise<Visited> =>
    browser.visit(`${open.url}${path}`, { headers, stopsAt: () => true });
  /** Begins a sign-in, and returns the path to which the provider leads back. */
  const begin = async (browser: CookieClient, to = '/usage'): Promise<string> => {
    const { url } = await visit(browser, `/console/api/oidc/company/start?to=${to}`);
    const { pathname, search } = provider.answer(url, grace);
    return `${pathname}${search}`;
  };
  const led = async (browser: CookieClient, path: string): Promise<string> => {
    const { url } = await visit(browser, path);
    return `${url.pathname}${url.search}`;
  };
  return { ...open, provider, visit, begin, led };
}

/** The same, with a browser in which a sign-in has begun, and the path to which the provider leads it back. */
async function openBegun() {
  const open = await openWithProvider();
  const browser = new CookieClient();
  return { ...open, browser, back: await open.begin(browser) };
}

/** Somebody who is signed in, and whose provider has not answered for more than an hour. */
async function openStale() {
  const { back, ...open } = await openBegun();
  const { browser, led, url, connection, prefix } = open;
  await led(browser, back);
  const cookie = browser.cookiesOf(url);
  const session = () => fetch(`${url}/console/api/session`, { headers: { cookie } });
  const { csrfToken } = (await (await session()).json()) as { csrfToken: string };
  const [name = ''] = await connection.redis.keys(`${prefix}external-account:*`);
  await connection.redis.hset(name, 'goodUntil', Date.now() - 3_600_001);
  return { ...open, headers: { cookie, 'x-csrf-token': csrfToken }, session };
}

/** A console with a provider, and a proxy that can cut it off from Redis. */
async function openBehindProxy() {
  const proxy = await startPausableProxy(Number(new URL(inject('redisUrl')).port));
  onTestFinished(() => proxy.close());
  return { ...(await openWithProvider({ redisUrl: `redis://127.0.0.1:${proxy.port}` })), proxy };
}

function expectLogged(apiLog: readonly string[], answered: object): void {
  expect(apiLog.filter((line) => line.includes(`"answered":${JSON.stringify(answered)}`))).toHaveLength(1);
}

function namesIn(browser: CookieClient, url: string): string[] {
  return [...browser.cookiesOf(url).matchAll(/([^=; ]+)=[^;]*/g)].map(([, name = '']) => name);
}

describe('an answer of a provider', () => {
  it('that comes several times at once is exchanged once, and signs in once', async () => {
    const { provider, begin, url } = await openWithProvider();
    for (let round = 1; round <= 5; round++) {
      const browser = new CookieClient();
      const back = await begin(browser);
      const headers = { cookie: browser.cookiesOf(url) };
      const send = () => fetch(`${url}${back}`, { headers, redirect: 'manual' });
      const answers = await Promise.all([send(), send(), send()]);
      const places = [...answers, await send()].map(({ headers: answered }) => answered.get('location') ?? '');
      expect(places.toSorted()).toEqual([...Array<string>(3).fill('/?sign-in=expired'), '/usage']);
      expect(places.at(-1)).toBe('/?sign-in=expired');
      expect(provider.exchanged).toHaveLength(round);
    }
  });

  it('is not exchanged while Redis is away, and is accepted once it is back', async () => {
    const { provider, begin, led, connection, proxy } = await openBehindProxy();
    const browser = new CookieClient();
    const back = await begin(browser);
    proxy.cut();
    expect(await led(browser, back)).toBe('/?sign-in=unavailable');
    expect(provider.exchanged).toEqual([]);
    proxy.resume();
    await connection.whenReady(AbortSignal.timeout(30_000));
    expect(await led(browser, back)).toBe('/usage');
    expect(provider.exchanged).toHaveLength(1);
  });

  it('is void when Redis has noted it but did not reply in time', async () => {
    const { provider, begin, led, proxy } = await openBehindProxy();
    const browser = new CookieClient();
    const back = await begin(browser);
    proxy.pauseAnswers();
    expect(await led(browser, back)).toBe('/?sign-in=unavailable');
    proxy.resume();
    await until(async () => (await led(browser, back)) === '/?sign-in=expired');
    expect(provider.exchanged).toEqual([]);
  });

  it.each(['HEAD', 'POST', 'OPTIONS'])(
    'is not used up by a request with %s; such a request begins no sign-in either',
    async (method) => {
      const { provider, led, url, browser, back } = await openBegun();
      const headers = { cookie: browser.cookiesOf(url) };
      for (const path of [back, '/console/api/oidc/company/start']) {
        const answer = await fetch(`${url}${path}`, { method, headers, redirect: 'manual' });
        expect([path, answer.status, answer.headers.get('allow')]).toEqual([path, 405, 'GET']);
        expect(answer.headers.getSetCookie()).toEqual([]);
      }
      expect(provider.exchanged).toEqual([]);
      expect(await led(browser, back)).toBe('/usage');
    },
  );

  it('is exchanged only when it names one state of a sign-in that the browser has begun with this provider', async () => {
    const { provider, begin, led, browser, back } = await openBegun();
    const state = new URLSearchParams(back.split('?')[1]).get('state') ?? '';
    const others = [
      back.replace(state, ''),
      back.replace(`state=${state}`, ''),
      back.replace('state=', 'state[]='),
      back.replace('state=', 'State='),
      `${back}&state=${state}`,
      `${back}&state=another`,
      back.replace(state, state.slice(1)),
      back.replace(state, `${state}=`),
      back.replace(state, 'A'.repeat(43)),
      back.replace(state, '__proto__'),
    ];
    for (const path of others) expect([path, await led(browser, path)]).toEqual([path, '/?sign-in=expired']);
    expect(await led(new CookieClient(), back)).toBe('/?sign-in=expired');
    expect(provider.exchanged).toEqual([]);
    expect(await led(browser, back)).toBe('/usage');
    const again = await begin(browser);
    expect(await led(browser, again.replace('/company/', '/second/'))).toBe('/?sign-in=expired');
    expect(provider.exchanged).toHaveLength(1);
  });
});

it('the stored account says whether its refresh token was requested to outlast the session at the provider', async () => {
  const { provider, visit, led, connection, prefix } = await openWithProvider();
  for (const name of ['company', 'second']) {
    const browser = new CookieClient();
    const { url } = await visit(browser, `/console/api/oidc/${name}/start`);
    const { pathname, search } = provider.answer(url, { ...grace, sub: name, email: `${name}@example.com` });
    expect(await led(browser, `${pathname}${search}`)).toBe('/');
  }
  const names = await connection.redis.keys(`${prefix}external-account:*`);
  const kept = await Promise.all(names.map((name) => connection.redis.hmget(name, 'provider', 'isOffline')));
  expect(Object.fromEntries(kept)).toEqual({ company: 'false', second: 'true' });
});

it.each([
  [401, { error: 'invalid_client' }, 'denied'],
  [400, { error: 'invalid_grant' }, 'denied'],
  [429, { error: 'slow_down' }, 'away'],
  [503, { error: undefined }, 'away'],
  [200, 'We are working on it.', 'away'],
  [400, 'We are working on it.', 'denied'],
  [429, 'We are working on it.', 'away'],
  [502, 'We are working on it.', 'away'],
  [503, 'We are working on it.', 'away'],
])('a provider that gives no tokens (%i %j) ends the sign-in on a page that says so', async (status, body, reason) => {
  const { provider, led, apiLog, browser, back } = await openBegun();
  provider.answerTokens(() => ({ status, body }));
  expect(await led(browser, back)).toBe(`/?sign-in=${reason}`);
  expectLogged(apiLog, { error: typeof body === 'string' ? undefined : body.error, status });
});

describe('the log of a sign-in that fails', () => {
  const realm = { 'www-authenticate': 'Basic realm="id"' };

  it.each([
    ['as JSON', {}, 'client authentication failed', 'client authentication failed'],
    ['with a challenge besides', realm, 'client authentication failed', 'client authentication failed'],
    ['at length', {}, 'so '.repeat(500), 'so '.repeat(100)],
    ['with what could be a secret', {}, `the secret ${'aB3~'.repeat(10)}== is wrong`, 'the secret … is wrong'],
    ['without a description', {}, undefined, undefined],
  ])('contains the error of the provider and its description (%s)', async (_, headers, said, description) => {
    const { provider, led, apiLog, browser, back } = await openBegun();
    const body = { error: 'invalid_client', error_description: said };
    provider.answerTokens(() => ({ status: 401, headers, body }));
    expect(await led(browser, back)).toBe('/?sign-in=denied');
    expectLogged(apiLog, { error: 'invalid_client', description, status: 401 });
  });

  it('contains the error with which the provider has redirected back', async () => {
    const { led, apiLog, browser, back } = await openBegun();
    const denied = 'error=access_denied&error_description=You are not in the group.';
    expect(await led(browser, back.replace(/code=[^&]*/, denied))).toBe('/?sign-in=denied');
    expectLogged(apiLog, { error: 'access_denied', description: 'You are not in the group.' });
  });
});

it('a person whose provider has not answered for over an hour gets 503 until it answers, and can sign in again meanwhile', async () => {
  const { provider, url, browser, session } = await openStale();
  provider.answerTokens(() => ({ status: 503, body: {} }));
  const refused = await session();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  const message = expect.stringContaining('Your identity provider cannot be asked about you') as string;
  expect(await refused.json()).toEqual({ error: { code: 'provider_away', message } });
  const headers = { 'sec-fetch-site': 'cross-site' };
  const path = `${url}/console/api/oidc/company/start`;
  const page = await browser.visit(path, { headers, stopsAt: () => true });
  expect(page.url.origin).toBe(provider.issuer);
  provider.answerTokens(undefined);
  expect((await session()).status).toBe(200);
});

it.each(['/session', '/sessions'])('a person can sign out while their provider cannot be asked (%s)', async (path) => {
  const { provider, url, headers, session } = await openStale();
  provider.answerTokens(() => ({ status: 503, body: {} }));
  const signOut = () => fetch(`${url}/console/api${path}`, { method: 'DELETE', headers });
  expect((await signOut()).ok).toBe(true);
  expect((await signOut()).status).toBe(401);
  provider.answerTokens(undefined);
  expect((await session()).status).toBe(401);
});

describe('a person in a browser', () => {
  it('sees the sign-in page at a provider that is not there any more', async () => {
    const { led } = await openWithProvider();
    for (const path of ['start', 'callback?state=any'])
      expect(await led(new CookieClient(), `/console/api/oidc/nobody/${path}`)).toBe('/?sign-in=no_provider');
  });

  it('sees the sign-in page when a sign-in cannot begin because Redis is away', async () => {
    const { url, proxy } = await openBehindProxy();
    const browser = new CookieClient();
    browser.setCookie(url, 'rtr', 'A'.repeat(43));
    proxy.cut();
    const start = `${url}/console/api/oidc/company/start`;
    const crossSite = { headers: { 'sec-fetch-site': 'cross-site' }, stopsAt: () => true };
    expect((await browser.visit(start, crossSite)).url.search).toBe('?sign-in=unavailable');
  });

  it('sees the sign-in page when their sign-ins are ended meanwhile, and when the router fails', async () => {
    const { begin, led, browser, back, accounts } = await openBegun();
    const { sessions, users } = accounts;
    const open = vi.spyOn(sessions, 'open').mockImplementationOnce(async (user, origin) => {
      await users.endSessions(user.id);
      return sessions.open(user, origin);
    });
    expect(await led(browser, back)).toBe('/?sign-in=signed_out');
    open.mockRejectedValueOnce(new Error('any'));
    expect(await led(browser, await begin(browser))).toBe('/?sign-in=failed');
  });
});

describe('a sign-in that another site begins', () => {
  const start = '/console/api/oidc/company/start?to=/keys';

  it('signs in a browser in which nobody is signed in', async () => {
    const { provider, url } = await openWithProvider();
    for (const site of ['cross-site', 'same-site', 'none'])
      for (const [name, value] of Object.entries({ rtr: 'A'.repeat(43), other: 'any' })) {
        const browser = new CookieClient();
        browser.setCookie(url, name, value);
        const headers = { 'sec-fetch-site': site };
        const page = await browser.visit(`${url}${start}`, { headers, stopsAt: () => true });
        expect(page.url.origin).toBe(provider.issuer);
      }
  });

  it.each([
    ['cross-site', { 'sec-fetch-site': 'cross-site' }, false],
    ['same-site', { 'sec-fetch-site': 'same-site' }, false],
    ['none', { 'sec-fetch-site': 'none' }, false],
    ['without Fetch Metadata', { origin: 'https://evil.org' }, false],
    ['from a page of the console', { 'sec-fetch-site': 'same-origin' }, true],
  ])('(%s) does not replace a signed-in person, unless that person has begun it', async (_, headers, begins) => {
    const { provider, url, firstAdmin } = await openWithProvider();
    const ada = await firstAdmin();
    const browser = new CookieClient();
    browser.setCookie(url, 'rtr', ada.sessionId);
    const page = await browser.visit(`${url}${start}`, { headers, stopsAt: () => true });
    expect(page.url.href.startsWith(begins ? `${provider.issuer}/` : `${url}/keys`)).toBe(true);
    expect(namesIn(browser, url)).toHaveLength(begins ? 2 : 1);
    const away = await browser.visit(`${url}${start}//evil.org`, { headers, stopsAt: () => true });
    expect(away.url.origin).toBe(begins ? provider.issuer : url);
    await ada.delete('/sessions');
    const later = await browser.visit(`${url}${start}`, { headers, stopsAt: () => true });
    expect(later.url.origin).toBe(provider.issuer);
  });
});

describe('a browser', () => {
  it.each([
    ['without TLS', false, /^rtr-sign-in-[\w-]{16}$/],
    ['over TLS', true, /^__Host-rtr-sign-in-[\w-]{16}$/],
  ])('%s begins three sign-ins at once, and ends each of them', async (_, trustProxy, form) => {
    const { begin, led, url } = await openWithProvider({ trustProxy });
    const browser = new CookieClient();
    const backs: string[] = [];
    for (const to of ['/usage', '/keys', '/account']) backs.push(await begin(browser, to));
    expect(namesIn(browser, url)).toEqual([1, 2, 3].map(() => expect.stringMatching(form)));
    const ends: string[] = [];
    for (const at of [1, 0, 2]) ends.push(await led(browser, backs[at] ?? ''));
    expect(ends).toEqual(['/keys', '/usage', '/account']);
    expect(namesIn(browser, url).filter((name) => name.includes('sign-in'))).toEqual([]);
  });

  it('keeps the newest three sign-ins, however many it begins and whatever other cookies it has', async () => {
    const { begin, led, url } = await openWithProvider();
    const browser = new CookieClient();
    for (const other of ['other', 'rtr-sign-in', 'rtr-sign-in-', 'my-rtr-sign-in-0123456789abcdef'])
      browser.setCookie(url, other, 'any');
    const backs: string[] = [];
    for (let each = 0; each < 8; each++) backs.push(await begin(browser, `/${'x'.repeat(299)}`));
    expect(namesIn(browser, url)).toHaveLength(4 + 3);
    expect(browser.cookiesOf(url).length).toBeLessThan(3 * 1_024 + 100);
    const ends: string[] = [];
    for (const back of backs) ends.push((await led(browser, back)).slice(0, 10));
    expect(ends).toEqual([...backs.slice(3).map(() => '/?sign-in='), ...Array<string>(3).fill('/xxxxxxxxx')]);
  });
});

it.each([
  ['a long path', `/${'%C3%A9'.repeat(950)}`, '/'],
  ['a path of letters that JSON writes with six', `/${'%01'.repeat(290)}`, '/'],
  ['the longest path', `/${'x'.repeat(299)}`, `/${'x'.repeat(299)}`],
])('links to %s that begin many sign-ins at once lock out no browser, which keeps three', async (_, to, leadsTo) => {
  const { begin, led, visit, url } = await openWithProvider();
  const browser = new CookieClient();
  const backs = await Promise.all(Array.from({ length: 12 }, () => begin(browser, to)));
  const cookies = browser.cookiesOf(url).split('; ');
  expect(cookies).toHaveLength(12);
  for (const cookie of cookies) expect(cookie.length).toBeLessThan(1_024);
  expect((await visit(browser, '/console/api/sign-in')).status).toBe(200);
  expect(namesIn(browser, url)).toHaveLength(3);
  const ends: string[] = [];
  for (const back of backs) ends.push(await led(browser, back));
  expect(ends.filter((end) => end === leadsTo)).toHaveLength(3);
  expect(ends.filter((end) => end === '/?sign-in=expired')).toHaveLength(9);
});

it('a sign-in that ends a refusal is announced, also if the reply of the store is lost', async () => {
  const { begin, led, browser, back, accounts, externals, announced } = await openBegun();
  await led(browser, back);
  const { id = '' } = (await accounts.users.findByEmail(grace.email)) ?? {};
  await accounts.users.refuse(id);
  announced.length = 0;
  expect(await led(browser, await begin(browser))).toBe('/usage');
  expect(announced).toEqual([`user:${id}`]);
  await accounts.users.refuse(id);
  const lostReply = new RouterError('store_unavailable', 'The reply is lost.');
  vi.spyOn(externals, 'store').mockRejectedValueOnce(lostReply);
  expect(await led(browser, await begin(browser))).toBe('/?sign-in=unavailable');
  expect(announced).toEqual([`user:${id}`, `user:${id}`]);
});
