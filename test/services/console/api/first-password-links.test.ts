import { describe, expect, it } from 'vitest';
import { createOwnedKey } from '#shared/accounts/keys/create-key.ts';
import { PartyIdentities } from '#shared/accounts/token-issuers/party-identities.ts';
import { openExternals } from '../../../helpers/accounts/open-externals.ts';
import { openHouse, type OpenConsole } from '../../../helpers/console/open-console.ts';
import { goodPassword } from '../../../helpers/console/good-password.ts';
import { refusal } from '../../../helpers/console/refusals.ts';

const refused = refusal(409, 'has_signed_in');
const email = 'victim@example.com';

/** An administrator, and an account that waits for its person. */
async function waiting() {
  const open = await openHouse();
  const { ada } = open;
  const { body } = await ada.post('/users', { email });
  const id = String(body.id);
  const link = () => ada.post(`/users/${id}/password-link`);
  return { ...open, ada, id, link };
}

/** Who people are who come with a token of the identity provider. */
function identitiesOf(open: OpenConsole): PartyIdentities {
  const { users, teams } = open.accounts;
  const store = { assertIntact: () => undefined };
  return new PartyIdentities({ users, externals: openExternals(open), teams, store });
}

function tokenOf(answer: { body: { link?: unknown } }): string {
  return String(answer.body.link).split('/link/')[1] ?? '';
}

describe('the link for a first password', () => {
  it('is made for nobody who has come in with a token of the identity provider, and one from before is void', async () => {
    const open = await waiting();
    const before = await open.link();
    expect(before.status).toBe(201);
    expect((await open.browser().get(`/links/${tokenOf(before)}`)).status).toBe(200);
    expect(await identitiesOf(open).find({ kind: 'person', name: email })).toMatchObject({ ownerId: open.id });
    expect(await open.link()).toMatchObject(refused);
    expect((await open.browser().get(`/links/${tokenOf(before)}`)).status).toBe(404);
    expect((await open.browser().post(`/links/${tokenOf(before)}`, { password: goodPassword })).status).toBe(404);
    // Also for whoever has found the link valid just before.
    expect(await open.accounts.links.resetPassword(tokenOf(before), open.id, 'x')).toBeUndefined();
    expect(await open.accounts.users.find(open.id)).toMatchObject({ passwordHash: '' });
  });

  it('is made for nobody with an account at a provider from before it was kept who came in', async () => {
    const open = await waiting();
    const before = await open.link();
    const account = { provider: 'company', issuer: 'https://id.example.com', subject: 'victim-1', goodUntil: 0 };
    await open.connection.redis.hset(`${open.prefix}external-account:${open.id}`, account);
    expect(await open.link()).toMatchObject(refused);
    expect((await open.browser().get(`/links/${tokenOf(before)}`)).status).toBe(404);
    expect(await open.accounts.links.resetPassword(tokenOf(before), open.id, 'x')).toBeUndefined();
  });

  it('is made for somebody with an issued key, but not with one that stores for them', async () => {
    const open = await waiting();
    const key = { kind: 'user', ownerId: open.id, createdBy: 'nobody', class: 'normal' } as const;
    await createOwnedKey(open.store, { ...key, name: 'issued', issuedBy: open.ada.id });
    const before = await open.link();
    expect(before.status).toBe(201);
    await createOwnedKey(open.store, { ...key, name: 'own' });
    expect(await open.link()).toMatchObject(refused);
    expect((await open.browser().get(`/links/${tokenOf(before)}`)).status).toBe(404);
  });
});
