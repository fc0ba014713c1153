import { describe, expect, it } from 'vitest';
import { createOwnedKey } from '#shared/accounts/keys/create-key.ts';
import { ExternalAccounts } from '#shared/accounts/external-accounts/external-accounts.ts';
import { OwnerKeys } from '#shared/accounts/secrets/owner-keys.ts';
import { PartyIdentities } from '#shared/accounts/token-issuers/party-identities.ts';
import { openConsole, type OpenConsole } from '../../../helpers/console/open-console.ts';
import { goodPassword } from '../../../helpers/console/good-password.ts';

const refused = { status: 409, body: { error: { code: 'has_signed_in' } } };
const email = 'victim@example.com';

/** An administrator, and an account that waits for its person. */
async function waiting() {
  const open = await openConsole();
  const ada = await open.firstAdmin();
  const { body } = await ada.post('/users', { email });
  const id = String(body.id);
  const link = () => ada.post(`/users/${id}/password-link`);
  return { ...open, ada, id, link };
}

/** What people have in other ways than with a password. */
function othersOf({ accounts, connection, prefix }: OpenConsole) {
  const keys = new OwnerKeys(() => [Buffer.alloc(32)]);
  const externals = new ExternalAccounts(connection.redis, prefix, { keys, report: () => undefined });
  const { users, teams } = accounts;
  const store = { assertIntact: () => undefined };
  return { externals, identities: new PartyIdentities({ users, externals, teams, store }) };
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
    const { identities } = othersOf(open);
    expect(await identities.find({ kind: 'person', name: email })).toMatchObject({ ownerId: open.id });
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
