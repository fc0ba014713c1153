import { describe, expect, it } from 'vitest';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import { toTrustProxySetting } from '#services/ingress/http/trusted-proxies.ts';
import { openHouse } from '../../../helpers/console/open-console.ts';
import type { ConsoleClient } from '../../../helpers/console/console-client.ts';
import { goodPassword } from '../../../helpers/console/good-password.ts';
import { notFound, refusal } from '../../../helpers/console/refusals.ts';
import { passTime } from '../../../helpers/pass-time.ts';

describe('signing in', () => {
  it('accepts a password however the keyboard composes its letters', async () => {
    const { ada, browser, accounts } = await openHouse();
    const token = await accounts.links.issuePassword(ada.id);
    const password = 'quiet-lantern-öyster-77';
    await browser().post(`/links/${token}`, { password: password.normalize('NFD') });
    for (const form of ['NFC', 'NFD'])
      expect((await browser().signIn('ada@example.com', password.normalize(form))).status).toBe(200);
    expect((await browser().signIn('ada@example.com', password.replace('ö', 'o'))).status).toBe(401);
  });

  it("always opens a new session, ends the browser's previous one, and adopts none that was set from outside", async () => {
    const { ada, browser } = await openHouse();
    const planted = browser();
    planted.cookie = `rtr=${'A'.repeat(43)}`;
    for (const victim of [ada, planted]) {
      const before = victim.cookie;
      expect((await victim.signIn('ADA@example.com ', goodPassword)).status).toBe(200);
      expect(victim.cookie).not.toBe(before);
      const thief = browser();
      thief.cookie = before;
      expect((await thief.get('/session')).status).toBe(401);
    }
  });

  it('sets a cookie that scripts and other sites cannot read, over TLS with the prefix that binds it to the host', async () => {
    const { url, browser } = await openHouse([], { trustProxy: true });
    const credentials = { email: 'ada@example.com', password: goodPassword };
    const plain = await browser().ask('POST', '/session', credentials);
    const begin = 'rtr=[\\w-]{43}; Max-Age=2592000; Path=/; Expires=[^;]+; HttpOnly';
    expect(plain.headers.getSetCookie()[0]).toMatch(new RegExp(`^${begin}; SameSite=Lax$`));
    const overTls = browser();
    const tls = await overTls.ask('POST', '/session', credentials, { 'x-forwarded-proto': 'https' });
    expect(tls.headers.getSetCookie()[0]).toMatch(new RegExp(`^__Host-${begin}; Secure; SameSite=Lax$`));
    // Over TLS only the cookie with the prefix counts: a neighbouring host without TLS could set the plain one.
    const session = (cookie: string) =>
      fetch(`${url}/console/api/session`, { headers: { cookie, 'x-forwarded-proto': 'https' } });
    expect((await session(overTls.cookie ?? '')).status).toBe(200);
    expect((await session(`rtr=${overTls.sessionId}`)).status).toBe(401);
  });

  it('answers the same, and as late, for an unknown address, a wrong password and a blocked person', async () => {
    const { ada, bob, browser } = await openHouse(['bob']);
    await ada.patch(`/users/${bob.id}`, { blocked: true });
    const timed = async (email: string, password: string) => {
      const begin = performance.now();
      const { status, body } = await browser().signIn(email, password);
      return { status, body, ms: performance.now() - begin };
    };
    await timed('warm@example.com', 'up');
    const wrong = await timed('ada@example.com', 'wrong');
    const unknown = await timed('nobody@example.com', 'wrong');
    const blocked = await timed('bob@example.com', goodPassword);
    expect(wrong).toMatchObject(refusal(401, 'wrong_credentials'));
    for (const other of [unknown, blocked]) expect({ ...other, ms: 0 }).toEqual({ ...wrong, ms: 0 });
    // An Argon2 computation takes 20 ms, and every answer needs one.
    for (const { ms } of [wrong, unknown, blocked]) expect(ms).toBeGreaterThan(8);
  });
});

/** Signs in from an address. @param cookie that the browser sends */
function attempt(client: ConsoleClient, email: string, password: string, address: string, cookie?: string) {
  const headers = { 'x-forwarded-for': address, ...(cookie !== undefined && { cookie }) };
  return client.ask('POST', '/session', { email, password }, headers);
}

describe('a flood of attempts to sign in', () => {
  it('from a client with a private address does not count as many clients by forged headers', async () => {
    const { browser } = await openHouse([], { trustProxy: toTrustProxySetting(['2']) });
    const behindTwo = (n: number): string => `6.6.6.${n}, 10.1.1.1, 172.18.0.1`;
    for (let n = 0; n < 10; n += 1)
      expect((await attempt(browser(), 'ada@example.com', 'wrong', behindTwo(n))).status).toBe(401);
    expect((await attempt(browser(), 'ada@example.com', goodPassword, behindTwo(10))).status).toBe(429);
  });

  it('is refused after fifty wrong passwords, even with the right one and for unknown accounts, except from a known browser', async () => {
    const { ada, browser, accounts } = await openHouse([], { trustProxy: true });
    const signedIn = await attempt(browser(), 'ada@example.com', goodPassword, '10.9.9.9');
    const [knownCookie = ''] = signedIn.headers.getSetCookie()[1]?.split(';') ?? [];
    expect(knownCookie).toMatch(/^rtr-known=/);
    for (const email of ['ada@example.com', 'nobody@example.com']) {
      // Fifty in all, most of them without the cost of a hash.
      for (let n = 0; n < 47; n += 1) await accounts.signInGuard.take({ address: `10.1.${email.length}.${n}`, email });
      for (let n = 47; n < 50; n += 1)
        expect((await attempt(browser(), email, 'wrong', `10.1.${email.length}.${n}`)).status).toBe(401);
      const refused = await attempt(browser(), email, goodPassword, '10.1.9.9');
      expect(refused).toMatchObject(refusal(429, 'too_many_attempts'));
      const retryAfter = Number(refused.headers.get('retry-after'));
      expect(retryAfter).toBeGreaterThan(14 * 60);
      expect(retryAfter).toBeLessThanOrEqual(15 * 60);
      expect((await attempt(browser(), email, goodPassword, '10.1.9.10')).status).toBe(429);
    }
    const refusals = (await accounts.audit.list()).entries.filter(({ action }) => action === 'session.refused');
    expect(refusals).toHaveLength(2);
    // Ada's own browser has signed in before. Another browser has copied only the name of the cookie.
    const signIn = async (email: string, cookie: string) =>
      (await attempt(browser(), email, goodPassword, '10.1.9.9', cookie)).status;
    const forged = knownCookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')).replace('.', '.A');
    expect(await signIn('ada@example.com', knownCookie)).toBe(200);
    expect(await signIn('ada@example.com', forged)).toBe(429);
    expect(await signIn('nobody@example.com', knownCookie)).toBe(429);
    // Signing out everywhere makes it unknown.
    await ada.delete('/sessions');
    expect(await signIn('ada@example.com', knownCookie)).toBe(429);
  });

  it('from one address is refused for every account, and locks out no other address', async () => {
    const { browser, accounts } = await openHouse([], { trustProxy: true });
    const fail = async (n: number) => (await attempt(browser(), `${n}@example.com`, 'wrong', '10.2.0.1')).status;
    const flood = (from: number, count: number) => Promise.all(Array.from({ length: count }, (_, n) => fail(from + n)));
    // Only a few may wait at once. Attempts that were not checked do not count.
    const first = await flood(1_000, 40);
    expect(first).toContain(503);
    for (let n = first.filter((status) => status === 401).length; n < 90; n += 1)
      await accounts.signInGuard.take({ address: '10.2.0.1', email: `${n}@example.com` });
    const statuses: number[] = [];
    for (let n = 2_000; !statuses.includes(429); n += 9) statuses.push(...(await flood(n, 9)));
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect((await attempt(browser(), 'ada@example.com', goodPassword, '10.2.0.1')).status).toBe(429);
    expect((await attempt(browser(), 'ada@example.com', goodPassword, '10.2.0.2')).status).toBe(200);
  });

  it('is not mistaken for a dozen correct sign-ins from one office', async () => {
    const { browser } = await openHouse();
    for (let n = 0; n < 12; n += 1) expect((await browser().signIn('ada@example.com', goodPassword)).status).toBe(200);
  });
});

describe('a session', () => {
  it('changes nothing without its own CSRF token', async () => {
    const { ada, bob } = await openHouse(['bob']);
    const right = ada.csrfToken;
    for (const wrong of [undefined, '', 'x', bob.csrfToken]) {
      ada.csrfToken = wrong;
      for (const answer of [
        await ada.post('/teams', { name: 'T' }),
        await ada.delete('/sessions'),
        await ada.patch('/settings', { sessionHours: 1 }),
        await ada.put('/teams/x/members/y', { role: 'owner' }),
      ])
        expect(answer).toMatchObject(refusal(403, 'csrf'));
    }
    ada.csrfToken = right;
    expect((await ada.get('/teams')).body).toEqual([]);
    expect((await ada.post('/teams', { name: 'T' })).status).toBe(201);
  });

  it('cannot be opened from another site or another origin', async () => {
    const { browser } = await openHouse();
    const credentials = { email: 'ada@example.com', password: goodPassword };
    for (const [headers, status] of [
      [{ 'sec-fetch-site': 'cross-site' }, 403],
      [{ 'sec-fetch-site': 'same-site' }, 403],
      [{ origin: 'https://evil.example' }, 403],
      [{ origin: 'null' }, 403],
      [{ 'sec-fetch-site': 'same-origin', origin: 'https://behind.a.proxy' }, 200],
    ] as const) {
      const answer = await browser().ask('POST', '/session', credentials, headers);
      expect(answer.status, JSON.stringify(headers)).toBe(status);
    }
  });

  it("ends with the sign-out; signing out everywhere ends all of the person's sessions and no others", async () => {
    const { ada, bob, browser } = await openHouse(['bob']);
    const second = browser();
    await second.signIn('ada@example.com', goodPassword);
    const stolen = browser();
    stolen.cookie = second.cookie;
    expect(await second.delete('/session')).toMatchObject({ status: 204 });
    expect(second.cookie).toBeUndefined();
    expect((await stolen.get('/session')).status).toBe(401);
    await second.signIn('ada@example.com', goodPassword);
    expect((await ada.delete('/sessions')).status).toBe(204);
    expect((await second.get('/session')).status).toBe(401);
    expect((await bob.get('/session')).status).toBe(200);
  });

  it('continues under a new id when the password changes, and all others end', async () => {
    const { ada, browser, actions } = await openHouse();
    const other = browser();
    await other.signIn('ada@example.com', goodPassword);
    const before = ada.cookie;
    const next = 'quiet-lantern-oyster-77';
    const change = (current: string, to: string) => ada.post('/password', { current, next: to });
    expect(await change('wrong', next)).toMatchObject(refusal(403, 'wrong_credentials', 'current'));
    expect(await change(goodPassword, 'weak')).toMatchObject(refusal(400, 'weak_password', 'next'));
    expect((await change(goodPassword, next)).status).toBe(200);
    expect(ada.cookie).not.toBe(before);
    expect((await ada.post('/teams', { name: 'with the new token' })).status).toBe(201);
    expect((await other.get('/session')).status).toBe(401);
    expect((await browser().signIn('ada@example.com', goodPassword)).status).toBe(401);
    expect((await browser().signIn('ada@example.com', next)).status).toBe(200);
    expect(await actions()).toContain('user.password');
  });

  it('ends after the configured time without use, and after 30 days in any case', async () => {
    const { ada, redis, prefix } = await openHouse();
    await ada.patch('/settings', { sessionHours: 2 });
    await ada.get('/session');
    const [name = ''] = await redis.keys(`${prefix}session:*`);
    const ms = await redis.pttl(name);
    expect(ms).toBeGreaterThan(2 * 3_600_000 - 120_000);
    // A request restarts the time without use.
    await redis.pexpire(name, 3_000_000);
    await ada.get('/session');
    expect(await redis.pttl(name)).toBeGreaterThan(2 * 3_600_000 - 120_000);
    passTime(30 * 24 * 3_600_000 - 60_000);
    expect((await ada.get('/session')).status).toBe(200);
    passTime(61_000);
    expect((await ada.get('/session')).status).toBe(401);
  });

  it('ends by the present setting when the setting has become shorter since its last use', async () => {
    const { ada, join, redis, prefix } = await openHouse();
    await ada.patch('/settings', { sessionHours: 720 });
    const bob = await join(ada, 'bob@example.com');
    const names = await redis.keys(`${prefix}session:*`);
    const owners = await Promise.all(names.map((name) => redis.hget(name, 'userId')));
    const name = names[owners.indexOf(bob.id)] ?? '';
    await ada.patch('/settings', { sessionHours: 2 });
    expect((await bob.get('/session')).status).toBe(200);
    expect(await redis.pttl(name)).toBeLessThanOrEqual(2 * 3_600_000);
    await ada.patch('/settings', { sessionHours: 720 });
    expect((await bob.get('/session')).status).toBe(200);
    expect(await redis.pttl(name)).toBeGreaterThan(719 * 3_600_000);
    // Three hours later.
    await redis.pexpire(name, 717 * 3_600_000);
    await ada.patch('/settings', { sessionHours: 2 });
    expect((await bob.get('/session')).status).toBe(401);
  });

  it('is one of at most fifty: a new one displaces the oldest, and ended ones do not count', async () => {
    const { ada, accounts, redis, prefix } = await openHouse();
    const user = (await accounts.users.find(ada.id)) as UserRecord;
    for (let n = 0; n < 60; n += 1) await accounts.sessions.end((await accounts.sessions.open(user)) ?? '');
    expect((await ada.get('/session')).status).toBe(200);
    const ids: (string | undefined)[] = [];
    for (let n = 0; n < 50; n += 1) ids.push(await accounts.sessions.open(user));
    expect(await redis.keys(`${prefix}session:*`)).toHaveLength(50);
    expect((await ada.get('/session')).status).toBe(401);
    expect(await accounts.sessions.find(ids[0] ?? '')).toMatchObject({ id: ada.id });
  });
});

it('the API of the console requires a sign-in, answers errors in one form, and allows no caching', async () => {
  const { ada, browser } = await openHouse();
  for (const path of ['/session', '/keys', '/users', '/nothing']) {
    const answer = await browser().get(path);
    expect(answer).toMatchObject(refusal(401, 'signed_out'));
    expect(answer.headers.get('cache-control')).toBe('no-store');
  }
  expect(await ada.get('/nothing')).toMatchObject(notFound);
  expect(await ada.signIn('ada@example.com', 'x'.repeat(70_000))).toMatchObject(refusal(413, 'body_too_large'));
});
