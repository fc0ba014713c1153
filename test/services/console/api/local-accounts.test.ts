import { describe, expect, it } from 'vitest';
import { emptyRegistry } from '#shared/registry/registry.ts';
import { codeOf, setUpApp } from '../../../helpers/console/authenticator-app.ts';
import { goodPassword } from '../../../helpers/console/good-password.ts';
import { linkPath } from '../../../helpers/console/link-path.ts';
import { openHouse, type OpenConsole, type Person } from '../../../helpers/console/open-console.ts';
import { refusal } from '../../../helpers/console/refusals.ts';

const sentence = 'Here people sign in with their company account only.';
const code = 'local_accounts_off';
const refused = { status: 403, body: { error: { code, message: sentence } } };
const suspended = { status: 401, body: { error: { code, message: expect.stringContaining('company') as string } } };
const nextPassword = 'quiet-lantern-oyster-77';

/** A console with an administrator, Ada, who has used the first link, and Bob, who has accepted an invitation. */
async function open() {
  const signIn = { ...emptyRegistry.sign_in };
  const house = await openHouse(['bob'], { signIn });
  const set = (isOn: boolean): void => void (signIn.local_accounts = isOn);
  return { ...house, set };
}

/** Returns the path of an administrator's link with which a person who has never signed in sets a password. */
async function linkOfAdmin(ada: Person, email: string): Promise<string> {
  const { body } = await ada.post('/users', { email });
  return linkPath((await ada.post(`/users/${body.id}/password-link`)).body.link);
}

/** Returns a browser in which a person is signed in by a provider that admits them. */
async function fromProvider({ accounts, redis, prefix, browser }: OpenConsole, userId: string) {
  const subject = { provider: 'company', issuer: 'https://id.example.com', subject: 'bob' };
  await redis.hset(`${prefix}external-account:${userId}`, { ...subject, goodUntil: Date.now() + 60_000 });
  const user = await accounts.users.find(userId);
  const sessionId = user && (await accounts.sessions.open(user, { provider: 'company' }));
  const client = browser();
  client.cookie = `rtr=${sessionId}`;
  expect((await client.get('/session')).status).toBe(200);
  return client;
}

describe('while local accounts are switched off', () => {
  it('no password is accepted, and administrators make no invitations and no links', async () => {
    const { ada, browser, set } = await open();
    const { body: eve } = await ada.post('/users', { email: 'eve@example.com' });
    set(false);
    expect(await browser().signIn('bob@example.com', goodPassword)).toMatchObject(refused);
    expect(await ada.post('/invitations', { email: 'new@example.com', role: 'member' })).toMatchObject(refused);
    expect(await ada.post(`/users/${eve.id}/password-link`)).toMatchObject(refused);
    set(true);
    expect((await browser().signIn('bob@example.com', goodPassword)).status).toBe(200);
    expect((await ada.post(`/users/${eve.id}/password-link`)).status).toBe(201);
  });

  it('earlier links of an administrator are not accepted, and not used up', async () => {
    const { ada, browser, set } = await open();
    const invitation = await ada.post('/invitations', { email: 'new@example.com', role: 'member' });
    const links = [await linkOfAdmin(ada, 'eve@example.com'), linkPath(invitation.body.link)];
    const account = { name: 'E', password: goodPassword };
    set(false);
    for (const link of links) {
      expect(await browser().get(link)).toMatchObject(refused);
      expect(await browser().post(link, account)).toMatchObject(refused);
    }
    set(true);
    for (const link of links) expect((await browser().post(link, account)).status).toBe(200);
  });

  it('a session that a password or the link of an administrator has opened does not count, and the answer says why', async () => {
    const { accounts, ada, bob, browser, set } = await open();
    const eve = browser();
    await eve.post(await linkOfAdmin(ada, 'eve@example.com'), { password: goodPassword });
    const again = browser();
    await again.signIn('ada@example.com', goodPassword);
    const people = [bob, eve, again];
    for (const person of people) expect((await person.get('/keys')).status).toBe(200);
    set(false);
    for (const person of people) {
      expect(await person.get('/session')).toMatchObject(suspended);
      expect(await person.get('/keys')).toMatchObject(suspended);
      expect(await person.post('/password', { current: goodPassword, next: nextPassword })).toMatchObject(suspended);
      expect(await accounts.sessions.find(person.sessionId)).toBeUndefined();
      expect(await accounts.sessions.isOpen(person.sessionId)).toBe(false);
    }
    expect(await browser().get('/session')).toMatchObject(refusal(401, 'signed_out'));
    set(true);
    for (const person of people) expect((await person.get('/keys')).status).toBe(200);
  });

  it('the link that an operator prints is accepted, and its session stays, also with another password and address', async () => {
    const { accounts, bob, browser, set } = await open();
    set(false);
    const rescued = browser();
    const token = await accounts.links.issuePassword(bob.id);
    expect((await rescued.get(`/links/${token}`)).status).toBe(200);
    expect((await rescued.post(`/links/${token}`, { password: goodPassword })).status).toBe(200);
    expect((await rescued.get('/session')).status).toBe(200);
    expect(await accounts.sessions.isOpen(rescued.sessionId)).toBe(true);
    expect((await rescued.post('/password', { current: goodPassword, next: nextPassword })).status).toBe(200);
    expect((await rescued.get('/session')).status).toBe(200);
    const address = { email: 'bob2@example.com', password: nextPassword };
    expect((await rescued.post('/account/email', address)).status).toBe(200);
    expect((await rescued.get('/session')).body.user.email).toBe('bob2@example.com');
    expect(await browser().signIn('bob2@example.com', nextPassword)).toMatchObject(refused);
  });

  it('the link of the first administrator is accepted, and its session stays', async () => {
    const signIn = { ...emptyRegistry.sign_in, local_accounts: false };
    const { ada } = await openHouse([], { signIn });
    expect((await ada.get('/users')).status).toBe(200);
    expect((await ada.post('/password', { current: goodPassword, next: nextPassword })).status).toBe(200);
    expect((await ada.get('/users')).status).toBe(200);
  });

  it('the second step is accepted after the link of an operator, and not after a password or the link of an administrator', async () => {
    const { accounts, bob, browser, set } = await open();
    const { secret } = await setUpApp(bob);
    const second = browser();
    expect((await second.signIn('bob@example.com', goodPassword)).body).toHaveProperty('secondStep');
    set(false);
    expect(await second.post('/session/second', { code: codeOf(secret, 30) })).toMatchObject(refused);
    const rescued = browser();
    const token = await accounts.links.issuePassword(bob.id);
    const step = await rescued.post(`/links/${token}`, { password: goodPassword });
    expect(step.body).toEqual({ secondStep: { app: true, passkeys: false } });
    expect((await rescued.get('/session')).status).toBe(401);
    expect((await rescued.post('/session/second', { code: codeOf(secret, 30) })).status).toBe(200);
    expect((await rescued.get('/session')).status).toBe(200);
  });

  it('a person whom a provider has signed in stays signed in, and sets no password', async () => {
    const console = await open();
    const client = await fromProvider(console, console.bob.id);
    console.set(false);
    expect((await client.get('/session')).status).toBe(200);
    const change = { current: goodPassword, next: nextPassword };
    expect(await client.post('/password', change)).toMatchObject(refused);
    console.set(true);
    expect((await client.post('/password', change)).status).toBe(200);
    // The session is still the provider's.
    console.set(false);
    expect((await client.get('/session')).status).toBe(200);
  });
});
