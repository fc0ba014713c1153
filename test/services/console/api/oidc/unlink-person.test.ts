import { expect, it } from 'vitest';
import { signInSchema } from '#shared/registry/sign-in.ts';
import { ConsoleClient } from '../../../../helpers/console/console-client.ts';
import { CookieClient } from '../../../../helpers/clients/cookie-client.ts';
import { openConsole, programOf } from '../../../../helpers/console/open-console.ts';
import { refusal } from '../../../../helpers/console/refusals.ts';
import { startCountedProvider } from '../../../../helpers/upstreams/start-counted-provider.ts';

const grace = { sub: 'grace', name: 'Grace', email: 'grace@example.com', email_verified: true };

/** A console at which people sign in at one of two providers, and its first administrator. */
async function open() {
  const providers = { old: await startCountedProvider(), new: await startCountedProvider() };
  const client = { client_id: 'router', domains: ['*'] };
  const settings = Object.entries(providers).map(([name, { issuer }]) => ({ name, issuer, ...client }));
  const console = await openConsole({ signIn: signInSchema.parse({ providers: settings }) });
  const ada = await console.firstAdmin();
  /** Signs in, and returns the address to which the browser is redirected. */
  const signIn = async (at: keyof typeof providers, browser = new CookieClient()): Promise<string> => {
    const stops = { stopsAt: () => true };
    const { url } = await browser.visit(`${console.url}/console/api/oidc/${at}/start?to=/usage`, stops);
    const { pathname, search } = providers[at].answer(url, grace);
    const ended = await browser.visit(`${console.url}${pathname}${search}`, stops);
    return `${ended.url.pathname}${ended.url.search}`;
  };
  const people = async () => (await ada.get('/users')).body as { id: string; email: string; provider?: string }[];
  return { ...console, ada, signIn, people };
}

it('a person whose provider has changed signs in at the new one, as the same person, once an administrator has unlinked them', async () => {
  const { url, ada, signIn, people, accounts, announced } = await open();
  const browser = new CookieClient();
  expect(await signIn('old', browser)).toBe('/usage');
  const id = (await people()).find(({ email }) => email === grace.email)?.id ?? '';
  expect(await people()).toMatchObject([{ email: 'ada@example.com' }, { id, provider: 'old' }]);
  expect((await people())[0]).not.toHaveProperty('provider');
  const { body: team } = await ada.post('/teams', { name: 'Research' });
  await accounts.teams.setMember(team.id, id, 'member');
  const { body: made } = await ada.post('/keys', { kind: 'user', name: 'laptop', userId: id });
  const page = Object.assign(new ConsoleClient(url), { cookie: browser.cookiesOf(url) });
  expect((await page.get('/session')).status).toBe(200);
  const api = await programOf(page, 'admin');
  expect((await api.get('/keys')).status).toBe(200);
  expect(await signIn('new')).toBe('/?sign-in=other_account');

  announced.length = 0;
  expect((await ada.delete(`/users/${id}/external-account`)).status).toBe(204);
  expect(announced).toEqual([`user:${id}`]);
  expect((await api.get('/keys')).status).toBe(401);
  expect((await page.get('/session')).status).toBe(401);
  expect((await people())[1]).not.toHaveProperty('provider');
  const [entry] = (await ada.get('/audit?action=user.unlink')).body.data;
  expect(entry).toMatchObject({ actor: { id: ada.id }, target: { id }, details: { provider: 'old' } });

  expect(await signIn('new')).toBe('/usage');
  expect((await people())[1]).toMatchObject({ id, provider: 'new' });
  expect([...(await accounts.teams.teamsOf(id)).keys()]).toEqual([team.id]);
  expect((await ada.get('/keys')).body).toMatchObject([{ id: made.key.id, owner: { id } }]);
  expect(await signIn('old')).toBe('/?sign-in=other_account');
});

it('only administrators unlink people, and only those who are linked', async () => {
  const { ada, join } = await open();
  const bob = await join(ada, 'bob@example.com');
  expect((await bob.delete(`/users/${bob.id}/external-account`)).status).toBe(403);
  expect(await ada.delete(`/users/${bob.id}/external-account`)).toMatchObject(refusal(409, 'not_linked'));
  expect((await ada.delete('/users/nobody/external-account')).status).toBe(404);
  expect((await bob.get('/session')).status).toBe(200);
});
