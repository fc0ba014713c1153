import { describe, expect, it } from 'vitest';
import { openHouse } from '../../../helpers/console/open-console.ts';
import { goodPassword } from '../../../helpers/console/good-password.ts';
import { refusal } from '../../../helpers/console/refusals.ts';
import { describeBrowser } from '#services/console/api/session/list-sign-in-sessions.ts';

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

describe('the list of sessions', () => {
  it('names browser and address of each, marks the present one, ends one of them, and omits ended ones', async () => {
    const { ada, browser } = await openHouse([], { trustProxy: true });
    const other = browser();
    const credentials = { email: 'ada@example.com', password: goodPassword };
    await other.ask('POST', '/session', credentials, { 'user-agent': firefox, 'x-forwarded-for': '192.0.2.7' });
    const { body } = await ada.get('/sessions');
    expect(body).toMatchObject([{ browser: 'Firefox on Linux', address: '192.0.2.7' }, { current: true }]);
    expect(body[0].current).toBeUndefined();
    expect(body[0].usedAt).toBeGreaterThanOrEqual(body[0].startedAt);
    expect((await ada.delete(`/sessions/${body[0].id}`)).status).toBe(204);
    expect((await other.get('/session')).status).toBe(401);
    expect((await ada.get('/sessions')).body).toHaveLength(1);
    expect((await ada.get('/audit')).body.data[0]).toMatchObject({ action: 'session.end' });
    await other.signIn('ada@example.com', goodPassword);
    await ada.delete('/sessions');
    await ada.signIn('ada@example.com', goodPassword);
    expect((await ada.get('/sessions')).body).toHaveLength(1);
  });

  it('shows and ends sessions of others only for administrators', async () => {
    const { ada, bob } = await openHouse(['bob']);
    const [own] = (await ada.get('/sessions')).body;
    expect((await bob.delete(`/sessions/${own.id}`)).status).toBe(404);
    expect((await bob.get(`/users/${ada.id}/sessions`)).status).toBe(403);
    const [his] = (await ada.get(`/users/${bob.id}/sessions`)).body;
    expect((await ada.delete(`/users/${ada.id}/sessions/${his.id}`)).status).toBe(404);
    expect((await ada.delete(`/users/${bob.id}/sessions/${his.id}`)).status).toBe(204);
    expect((await bob.get('/session')).status).toBe(401);
  });
});

describe('the name and the address of a person', () => {
  it('are changed by the person, the address only with the password, and then all other sessions end', async () => {
    const { ada, browser, announced, actions } = await openHouse();
    const other = browser();
    await other.signIn('ada@example.com', goodPassword);
    expect((await ada.patch('/account', { name: 'Ada L.' })).body.user.name).toBe('Ada L.');
    expect((await ada.get('/session')).body.user.alertEmails).toBe(true);
    for (const alertEmails of [false, true]) {
      expect((await ada.patch('/account', { alertEmails })).body.user).toMatchObject({ name: 'Ada L.', alertEmails });
      expect((await ada.get('/session')).body.user.alertEmails).toBe(alertEmails);
    }
    expect((await ada.patch('/account', { name: '' })).status).toBe(400);
    const wanted = { email: 'Countess@Example.com', password: goodPassword };
    const refused = await ada.post('/account/email', { ...wanted, password: 'wrong' });
    expect(refused).toMatchObject(refusal(403, 'wrong_credentials', 'password'));
    expect((await other.get('/session')).status).toBe(200);
    expect((await ada.post('/account/email', wanted)).body.user.email).toBe('countess@example.com');
    expect((await ada.get('/session')).status).toBe(200);
    expect((await other.get('/session')).status).toBe(401);
    expect(announced).toContain(`user:${ada.id}`);
    expect((await browser().signIn('ada@example.com', goodPassword)).status).toBe(401);
    expect((await browser().signIn('countess@example.com', goodPassword)).status).toBe(200);
    expect((await actions()).slice(0, 2)).toEqual(['user.email', 'user.rename']);
  });

  it('include no address of somebody else; the old address can be used again', async () => {
    const { ada, bob } = await openHouse(['bob']);
    const wanted = { email: 'ada@example.com', password: goodPassword };
    expect(await bob.post('/account/email', wanted)).toMatchObject(refusal(409, 'email_taken', 'email'));
    await bob.post('/account/email', { ...wanted, email: 'robert@example.com' });
    expect((await ada.post('/account/email', { ...wanted, email: 'bob@example.com' })).status).toBe(200);
  });

  it('are changed by administrators for everybody, and by nobody else', async () => {
    const { ada, bob } = await openHouse(['bob']);
    expect((await bob.patch(`/users/${ada.id}/profile`, { name: 'Eve' })).status).toBe(403);
    expect((await ada.patch(`/users/${bob.id}/profile`, { name: 'Robert', email: 'r@example.com' })).status).toBe(204);
    expect((await bob.get('/session')).status).toBe(401);
    const people = (await ada.get('/users')).body;
    expect(people).toContainEqual(expect.objectContaining({ name: 'Robert', email: 'r@example.com' }));
  });
});

const onWebKit = (system: string) => `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko)`;

it.each([
  ['Firefox on Linux', firefox],
  ['Edge on Windows', `${onWebKit('Windows NT 10.0; Win64; x64')} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`],
  ['Safari on macOS', `${onWebKit('Macintosh; Intel Mac OS X 10_15_7')} Version/19.0 Safari/605.1.15`],
  ['Chrome on iOS', `${onWebKit('iPhone; CPU iPhone OS 18_0 like Mac OS X')} CriOS/140.0 Mobile/15E148 Safari/604.1`],
  ['Chrome on Android', `${onWebKit('Linux; Android 15')} Chrome/140.0.0.0 Mobile Safari/537.36`],
  ['A browser', 'curl/8.9.1'],
  ['A browser', undefined],
])('the name of a browser is %s: %s', (name, agent) => {
  expect(describeBrowser(agent)).toBe(name);
});
