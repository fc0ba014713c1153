import { describe, expect, it } from 'vitest';
import { codeOf, setUpApp as addApp } from '../../../helpers/console/authenticator-app.ts';
import type { ConsoleClient } from '../../../helpers/console/console-client.ts';
import { goodPassword } from '../../../helpers/console/good-password.ts';
import { openHouse } from '../../../helpers/console/open-console.ts';
import { refusal } from '../../../helpers/console/refusals.ts';
import { passTime } from '../../../helpers/pass-time.ts';

const withPassword = { password: goodPassword };

/** Sets up an authenticator app, and lets its code of the set-up pass. */
async function setUpApp(person: ConsoleClient) {
  const app = await addApp(person);
  passTime(60_000);
  return app;
}

/** A console whose administrator has an authenticator app. */
async function openWithApp() {
  const house = await openHouse();
  const app = await setUpApp(house.ada);
  /** Returns a browser in which the password was accepted, and the answer to that. */
  const firstStep = async () => {
    const client = house.browser();
    const answer = await client.signIn('ada@example.com', goodPassword);
    return Object.assign(client, { answer });
  };
  /** Returns the status of a second step, after a first one. */
  const signIn = async (code: string) => (await (await firstStep()).post('/session/second', { code })).status;
  return { ...house, ...app, firstStep, signIn };
}

describe('a sign-in with a second factor', () => {
  it('asks for a code of the app after the password, and opens no session before', async () => {
    const { secret, firstStep } = await openWithApp();
    const client = await firstStep();
    expect(client.answer).toMatchObject({ status: 200, body: { secondStep: { app: true, passkeys: false } } });
    expect(client.answer.headers.getSetCookie().join()).not.toMatch(/\brtr=/);
    expect((await client.get('/session')).status).toBe(401);
    expect((await client.post('/session/second', { code: '000000' })).status).toBe(401);
    const second = await client.post('/session/second', { code: codeOf(secret).replace(/^.../, '$& ') });
    expect(second).toMatchObject({ status: 200, body: { user: { name: 'Ada' } } });
    expect((await client.get('/session')).status).toBe(200);
  });

  it('accepts a code once, of now or 30 seconds earlier or later', async () => {
    const { secret, signIn } = await openWithApp();
    expect(await signIn(codeOf(secret, -90))).toBe(401);
    expect(await signIn(codeOf(secret, 90))).toBe(401);
    const code = codeOf(secret, -30);
    expect(await signIn(code)).toBe(200);
    expect(await signIn(code)).toBe(401);
    expect(await signIn(codeOf(secret, 30))).toBe(200);
    // A code before the last used one is refused as well.
    expect(await signIn(codeOf(secret))).toBe(401);
  });

  it('accepts each recovery code once, in any spelling', async () => {
    const { ada, codes, signIn, actions } = await openWithApp();
    expect(new Set(codes).size).toBe(10);
    const [first = '', second = ''] = codes;
    expect(await signIn(first.toUpperCase().replace('-', ' '))).toBe(200);
    expect(await signIn(first)).toBe(401);
    expect((await ada.get('/second-factor')).body.recoveryCodesLeft).toBe(9);
    const made = await ada.post('/second-factor/recovery-codes', withPassword);
    expect(made.body.codes).toHaveLength(10);
    expect(await signIn(second)).toBe(401);
    expect(await signIn(made.body.codes[0])).toBe(200);
    expect(await actions()).toContain('second-factor.recovery');
  });

  it('allows five tries before it needs the password again, and ten tries per account', async () => {
    const { secret, firstStep, signIn } = await openWithApp();
    const client = await firstStep();
    for (let n = 0; n < 5; n += 1)
      expect((await client.post('/session/second', { code: `00000${n}` })).status).toBe(401);
    expect(await client.post('/session/second', { code: codeOf(secret) })).toMatchObject(refusal(401, 'sign_in_over'));
    const again = await firstStep();
    for (let n = 0; n < 5; n += 1)
      expect((await again.post('/session/second', { code: `11111${n}` })).status).toBe(401);
    expect(await signIn(codeOf(secret))).toBe(429);
  });

  it('does not count codes that cannot be judged', async () => {
    const { ada, redis, prefix, secret, firstStep } = await openWithApp();
    const [factor, kept] = [`${prefix}second-factor:${ada.id}`, `${prefix}kept`];
    for (let round = 0; round < 4; round += 1) {
      const client = await firstStep();
      // A value that Redis cannot read as a second factor.
      await redis.rename(factor, kept);
      await redis.set(factor, 'any');
      for (let n = 0; n < 4; n += 1)
        expect((await client.post('/session/second', { code: 'aaaaa-aaaaa' })).status).toBe(503);
      await redis.rename(kept, factor);
    }
    const client = await firstStep();
    expect((await client.post('/session/second', { code: '000000' })).status).toBe(401);
    expect((await client.post('/session/second', { code: codeOf(secret) })).status).toBe(200);
  });

  it('is bound to the browser that had the password, and ends after five minutes, and with the sessions of the person', async () => {
    const { ada, browser, accounts, redis, prefix, secret, firstStep } = await openWithApp();
    const client = await firstStep();
    expect((await browser().post('/session/second', { code: codeOf(secret) })).status).toBe(401);
    const names = await redis.keys(`${prefix}pending-sign-in:*`);
    for (const name of names) expect(await redis.pttl(name)).toBeGreaterThan(290_000);
    await accounts.users.endSessions(ada.id);
    expect((await client.post('/session/second', { code: codeOf(secret) })).status).toBe(401);
  });
});

describe('a second factor', () => {
  it('is set up and removed with the password only, and shown to nobody afterwards', async () => {
    const { ada, browser, redis, prefix, apiLog } = await openHouse();
    for (const [method, path] of [
      ['POST', '/second-factor/app'],
      ['DELETE', '/second-factor/app'],
      ['POST', '/second-factor/recovery-codes'],
      ['POST', '/second-factor/passkeys/options'],
      ['DELETE', '/second-factor/passkeys/x'],
    ] as const) {
      const refused = await ada.ask(method, path, { password: 'wrong' });
      expect(refused).toMatchObject(refusal(403, 'wrong_credentials', 'password'));
      expect((await ada.ask(method, path, {})).status).toBe(400);
    }
    const { secret, codes } = await setUpApp(ada);
    const shown = { app: true, passkeys: [], recoveryCodesLeft: 10, demanded: false };
    expect((await ada.get('/second-factor')).body).toEqual(shown);
    const stored = JSON.stringify(await redis.hgetall(`${prefix}second-factor:${ada.id}`));
    for (const text of [secret, ...codes, ...codes.map((code) => code.replace('-', ''))]) {
      expect(stored).not.toContain(text);
      expect(apiLog.join()).not.toContain(text);
    }
    expect((await ada.ask('DELETE', '/second-factor/app', withPassword)).status).toBe(204);
    // Without any factor there are no recovery codes.
    expect((await ada.get('/second-factor')).body).toMatchObject({ app: false, recoveryCodesLeft: 0 });
    expect((await browser().signIn('ada@example.com', goodPassword)).body.user.name).toBe('Ada');
  });

  it('is not set up with a wrong code, nor with an answer of a passkey that was not asked for', async () => {
    const { ada } = await openHouse();
    await ada.post('/second-factor/app', withPassword);
    for (const code of ['000000', '１２３４５６', '12345é', '12345'])
      expect(await ada.post('/second-factor/app/confirm', { code })).toMatchObject({ status: 400 });
    const answer = { name: 'key', response: { id: 'x', rawId: 'x', type: 'public-key', response: {} } };
    expect((await ada.post('/second-factor/passkeys', answer)).status).toBe(409);
    await ada.post('/second-factor/passkeys/options', withPassword);
    expect((await ada.post('/second-factor/passkeys', answer)).status).toBe(400);
    expect((await ada.get('/second-factor')).body).toMatchObject({ app: false, passkeys: [] });
  });

  it('of a person who has lost it is removed by administrators, and by nobody else', async () => {
    const { ada, bob, browser } = await openHouse(['bob']);
    await setUpApp(bob);
    expect((await bob.delete(`/users/${ada.id}/second-factor`)).status).toBe(403);
    expect((await ada.delete(`/users/${bob.id}/second-factor`)).status).toBe(204);
    expect((await browser().signIn('bob@example.com', goodPassword)).body.user.name).toBe('bob');
  });

  it('that an administrator demands is set up before anything else', async () => {
    const { ada, bob } = await openHouse(['bob']);
    await setUpApp(ada);
    await ada.patch('/settings', { requireSecondFactor: true });
    for (const path of ['/keys', '/teams', '/webhooks'])
      expect(await bob.get(path)).toMatchObject(refusal(403, 'second_factor_demanded'));
    expect((await bob.post('/keys', { kind: 'user', name: 'k', class: 'normal', limits: {} })).status).toBe(403);
    expect((await bob.get('/second-factor')).body).toMatchObject({ demanded: true });
    expect((await ada.get('/keys')).status).toBe(200);
    await setUpApp(bob);
    expect((await bob.get('/keys')).status).toBe(200);
  });
});
