import { describe, expect, it } from 'vitest';
import { PartyIdentities } from '#shared/accounts/sign-in/token-issuers/party-identities.ts';
import { openExternals } from '../../../helpers/accounts/open-externals.ts';
import { openHouse, type OpenConsole } from '../../../helpers/console/open-console.ts';
import { goodPassword } from '../../../helpers/console/good-password.ts';
import { linkPath } from '../../../helpers/console/link-path.ts';
import { refusal } from '../../../helpers/console/refusals.ts';

const refused = refusal(409, 'has_signed_in');
const email = 'victim@example.com';

/** An administrator, an account that waits for its person, and a link for a first password of it. */
async function waiting() {
  const open = await openHouse();
  const { body } = await open.ada.post('/users', { email });
  const id = String(body.id);
  const link = () => open.ada.post(`/users/${id}/password-link`);
  const path = async () => linkPath((await link()).body.link);
  /** Expects that another link is refused, and an earlier one is void. */
  const expectNone = async (before: string): Promise<void> => {
    expect(await link()).toMatchObject(refused);
    expect((await open.browser().get(before)).status).toBe(404);
  };
  /** Sets a password by a link that was found valid just before. */
  const reset = (before: string) => open.accounts.links.resetPassword(before.replace('/links/', ''), id, 'x');
  return { ...open, id, link, path, expectNone, reset };
}

/** Identifies people by a token of the identity provider. */
function identitiesOf(open: OpenConsole): PartyIdentities {
  const { users, teams } = open.accounts;
  const store = { assertIntact: () => undefined };
  return new PartyIdentities({ users, externals: openExternals(open), teams, store });
}

describe('the link for a first password', () => {
  it('is refused for a person who has used a token of the identity provider, and an earlier link is void', async () => {
    const open = await waiting();
    const before = await open.path();
    expect((await open.browser().get(before)).status).toBe(200);
    expect(await identitiesOf(open).find({ kind: 'person', name: email })).toMatchObject({ ownerId: open.id });
    await open.expectNone(before);
    expect((await open.browser().post(before, { password: goodPassword })).status).toBe(404);
    expect(await open.reset(before)).toBeUndefined();
    expect(await open.accounts.users.find(open.id)).toMatchObject({ passwordHash: '' });
  });

  it('is refused for a person with an account at a provider, also without a record of a sign-in', async () => {
    const open = await waiting();
    const before = await open.path();
    const account = { provider: 'company', issuer: 'https://id.example.com', subject: 'victim-1', goodUntil: 0 };
    await open.redis.hset(`${open.prefix}external-account:${open.id}`, account);
    await open.expectNone(before);
    expect(await open.reset(before)).toBeUndefined();
  });

  it('is made for a person with an issued key', async () => {
    const open = await waiting();
    const { body } = await open.ada.post('/keys', { kind: 'user', userId: open.id, name: 'issued' });
    expect(body.key).toHaveProperty('issued');
    expect((await open.browser().get(await open.path())).status).toBe(200);
  });
});
