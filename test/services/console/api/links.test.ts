import { describe, expect, it } from 'vitest';
import { createFirstRouterKey } from '#shared/accounts/keys/create-key.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { openConsole, openHouse } from '../../../helpers/console/open-console.ts';
import { goodPassword } from '../../../helpers/console/good-password.ts';
import { refusal } from '../../../helpers/console/refusals.ts';

describe('the link of the first administrator', () => {
  it('describes itself, creates the account, signs in, and works once', async () => {
    const { accounts, browser } = await openConsole();
    const token = await accounts.links.issueFirstAdmin();
    const first = browser();
    expect(await first.get(`/links/${token}`)).toMatchObject({ status: 200, body: { kind: 'first-admin' } });
    const form = { name: ' Ada Lovelace ', email: 'Ada@Example.COM', password: goodPassword };
    const user = { name: 'Ada Lovelace', email: 'ada@example.com', role: 'admin', teams: [] };
    expect(await first.post(`/links/${token}`, form)).toMatchObject({ status: 200, body: { user } });
    expect(await first.get('/session')).toMatchObject({ status: 200, body: { csrfToken: first.csrfToken } });
    expect(await browser().get(`/links/${token}`)).toMatchObject(refusal(404, 'no_link'));
    expect(await browser().post(`/links/${token}`, form)).toMatchObject(refusal(404, 'no_link'));
    expect(await accounts.links.issueFirstAdmin()).toBeUndefined();
  });

  it('makes the first router key that of the new administrator, at every ingress at once', async () => {
    const { accounts, browser, verifier, announced } = await openConsole();
    const { rawKey, record } = made(await createFirstRouterKey(accounts.keys));
    expect(await verifier.verify(rawKey)).toMatchObject({ kind: 'router', ownerId: undefined });
    const ada = browser();
    const form = { name: 'Ada', email: 'ada@example.com', password: goodPassword };
    const { body } = await ada.post(`/links/${await accounts.links.issueFirstAdmin()}`, form);
    expect(announced).toEqual([record.id]);
    expect(await verifier.verify(rawKey)).toMatchObject({ kind: 'user', ownerId: body.user.id });
    const listed = (await ada.get('/keys')).body;
    expect(listed).toMatchObject([{ id: record.id, kind: 'user', owner: { id: body.user.id } }]);
  });

  it('creates one administrator when many use it at once', async () => {
    const { accounts, browser } = await openConsole();
    const token = await accounts.links.issueFirstAdmin();
    const people = ['a', 'b', 'c', 'd'].map((name) => ({ name, email: `${name}@example.com`, password: goodPassword }));
    const answers = await Promise.all(people.map((person) => browser().post(`/links/${token}`, person)));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404, 404, 404]);
    expect(await accounts.users.list()).toHaveLength(1);
  });

  it('is not used up by a refused request', async () => {
    const { accounts, browser } = await openConsole();
    const token = await accounts.links.issueFirstAdmin();
    const form = { name: 'Ada', email: 'ada@example.com', password: goodPassword };
    const refusedWith = async (wrong: object, code: string, field: string) =>
      expect(await browser().post(`/links/${token}`, { ...form, ...wrong })).toMatchObject(refusal(400, code, field));
    for (const password of ['short', 'x'.repeat(201), 'password12'])
      await refusedWith({ password }, 'weak_password', 'password');
    await refusedWith({ email: 'ada' }, 'invalid_request', 'email');
    for (const name of ['  ', 'a\u202eb']) await refusedWith({ name }, 'invalid_request', 'name');
    expect((await browser().post(`/links/${token}`, form)).status).toBe(200);
  });
});

it('the link for a forgotten password sets a new one, ends all sessions, signs in, and lifts the limit on attempts', async () => {
  const { ada, browser, accounts } = await openHouse();
  for (let n = 0; n < 11; n += 1) await browser().signIn('ada@example.com', 'wrong');
  expect((await browser().signIn('ada@example.com', goodPassword)).status).toBe(429);
  const token = await accounts.links.issuePassword(ada.id);
  expect((await browser().get(`/links/${token}`)).body).toEqual({ kind: 'password', email: 'ada@example.com' });
  const password = 'quiet-lantern-oyster-77';
  const back = browser();
  expect(await back.post(`/links/${token}`, { password })).toMatchObject({ body: { user: { name: 'Ada' } } });
  expect((await back.get('/session')).status).toBe(200);
  expect((await ada.get('/session')).status).toBe(401);
  expect((await browser().post(`/links/${token}`, { password })).status).toBe(404);
});

it('links for one forgotten password all expire when one is used, the password changes, or the person signs out everywhere', async () => {
  const { ada, browser, accounts } = await openHouse();
  const issue = () => Promise.all([accounts.links.issuePassword(ada.id), accounts.links.issuePassword(ada.id)]);
  const password = 'quiet-lantern-oyster-77';
  const [used, spare] = await issue();
  expect((await browser().get(`/links/${spare}`)).status).toBe(200);
  expect((await ada.post(`/links/${used}`, { password })).status).toBe(200);
  const [older] = await issue();
  expect((await ada.post('/password', { current: password, next: goodPassword })).status).toBe(200);
  const [oldest] = await issue();
  await accounts.users.endSessions(ada.id);
  for (const token of [spare, older, oldest]) {
    expect((await browser().get(`/links/${token}`)).status).toBe(404);
    expect((await browser().post(`/links/${token}`, { password })).status).toBe(404);
    expect(await accounts.links.resetPassword(token, ada.id, 'x')).toBeUndefined();
  }
});
