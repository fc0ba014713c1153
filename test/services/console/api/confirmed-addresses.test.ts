import { describe, expect, it } from 'vitest';
import { admitPerson } from '#services/console/api/oidc/admit-person.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import { signInSchema } from '#shared/registry/sign-in.ts';
import { openExternals } from '../../../helpers/accounts/open-externals.ts';
import { goodPassword } from '../../../helpers/console/good-password.ts';
import { openHouse, programOf, type OpenConsole, type Person } from '../../../helpers/console/open-console.ts';
import { linkPath } from '../../../helpers/console/link-path.ts';
import { refusal } from '../../../helpers/console/refusals.ts';
import { silentLog } from '../../../helpers/silent-log.ts';

const unconfirmed = refusal(409, 'unconfirmed_address', 'email');
const target = 'newboss@example.com';
const about = { name: 'company', issuer: 'https://login.example.com', client_id: 'router' };
const provider = { ...about, domains: ['example.com'], groups: [{ group: 'admins', role: 'admin' }] };

/** An administrator, and a member who has typed in an address of somebody else. */
async function squatted() {
  const open = await openHouse(['eve']);
  expect(await take(open.eve, target)).toMatchObject({ status: 200, body: { user: { email: target } } });
  return { ...open, signInAt: comes(open) };
}

function take(person: Person, email: string) {
  return person.post('/account/email', { email, password: goodPassword });
}

/** Returns a function that signs in somebody at a provider that has verified the address. */
function comes(open: OpenConsole) {
  const { accounts, announced } = open;
  const announce = async (changed: string) => void announced.push(changed);
  const parts = { accounts, externals: openExternals(open), announce, log: silentLog };
  const [company] = signInSchema.parse({ providers: [provider] }).providers;
  if (!company) throw new Error('no provider');
  return (email: string, sub = `sub-${email}`, groups: string[] = []): Promise<UserRecord | string> =>
    admitPerson(parts, company, { sub, email, email_verified: true, groups });
}

describe('an address that a member has typed in', () => {
  it('gives the member nothing that an administrator or the owner of a team gives to the address', async () => {
    const { ada, eve, join } = await squatted();
    const bob = await join(ada, 'bob@example.com');
    const { body: team } = await ada.post('/teams', { name: 'Blue' });
    await ada.put(`/teams/${team.id}/members/${bob.id}`, { role: 'owner' });
    const path = `/users-by-email/${target}`;
    const [limits, ceiling] = [{ costPerDay: 100 }, { maxClass: 'high' }];
    for (const change of [{ role: 'admin' }, { limits }, { weight: 50 }, { ceiling }])
      expect(await ada.put(path, change), JSON.stringify(change)).toMatchObject(unconfirmed);
    for (const giver of [ada, bob])
      expect(await giver.post(`/teams/${team.id}/members`, { email: target, role: 'owner' })).toMatchObject(
        unconfirmed,
      );
    const unchanged = { role: 'member', emailConfirmed: false, limits: {} };
    expect((await ada.get(`/users/${eve.id}`)).body).toMatchObject(unchanged);
    // Changes that give them nothing are made: none at all, and a block.
    for (const change of [{ role: 'member', weight: 1 }, { blocked: true }])
      expect((await ada.put(path, change)).status).toBe(200);
    expect(await ada.put(path, { blocked: false })).toMatchObject(unconfirmed);
  });

  it('does not let others rename the member, and an administrator who invites its owner gets the id of the member', async () => {
    const { ada, eve } = await squatted();
    const path = `/users-by-email/${target}`;
    expect(await ada.put(path, { name: 'The New Boss' })).toMatchObject(unconfirmed);
    expect((await ada.get(`/users/${eve.id}`)).body).toMatchObject({ name: 'eve' });
    expect((await ada.put(path, { name: 'eve' })).status).toBe(200);
    for (const invited of [
      await ada.post('/invitations', { email: target, role: 'member' }),
      await ada.post('/users', { email: target }),
    ]) {
      expect(invited).toMatchObject(refusal(409, 'email_taken', 'email'));
      const sentence = `The account ${eve.id} has this e-mail address: its person has typed it in`;
      expect(invited.body.error.message).toContain(sentence);
    }
  });

  it('cannot be the address of an open invitation, which can still be accepted', async () => {
    const { ada, eve, browser } = await openHouse(['eve']);
    const { body } = await ada.post('/invitations', { email: target, role: 'member' });
    expect(await take(eve, target)).toMatchObject(refusal(409, 'email_taken'));
    expect((await ada.patch(`/users/${eve.id}/profile`, { email: target })).status).toBe(409);
    const account = { name: 'Boss', password: goodPassword };
    expect((await browser().post(linkPath(body.link), account)).status).toBe(200);
    // A withdrawn invitation holds no address.
    const other = await ada.post('/invitations', { email: 'other@example.com', role: 'member' });
    await ada.delete(`/invitations/${other.body.invitation.id}`);
    expect((await take(eve, 'other@example.com')).status).toBe(200);
  });

  it('is theirs once an administrator has confirmed it, which nobody can do for themselves', async () => {
    const { ada, eve } = await squatted();
    const give = () => ada.put(`/users-by-email/${target}`, { role: 'admin' });
    expect(await give()).toMatchObject(unconfirmed);
    expect((await ada.patch(`/users/${eve.id}/profile`, { email: target })).status).toBe(204);
    expect((await eve.get('/session')).status).toBe(200);
    const parties = { actor: { id: ada.id }, target: { id: eve.id } };
    const entry = { action: 'user.email.confirm', ...parties, details: { email: target } };
    expect((await ada.get('/audit')).body.data[0]).toMatchObject(entry);
    expect(await give()).toMatchObject({ status: 200, body: { role: 'admin', emailConfirmed: true } });
    await take(eve, 'eve2@example.com');
    expect(await eve.patch(`/users/${eve.id}/profile`, { email: 'eve2@example.com' })).toMatchObject({ status: 403 });
    await eve.patch(`/users/${eve.id}/profile`, { email: 'eve3@example.com' });
    const typedIn = { email: 'eve3@example.com', emailConfirmed: false };
    expect((await ada.get(`/users/${eve.id}`)).body).toMatchObject(typedIn);
  });

  it("does not link the member's account when its owner signs in at a provider", async () => {
    const { ada, eve, accounts, signInAt } = await squatted();
    expect(await signInAt(target, 'boss', ['admins'])).toBe('unconfirmed_address');
    expect(await accounts.users.find(eve.id)).toMatchObject({ role: 'member' });
    // The owner signs in once an administrator has taken the address away.
    await ada.patch(`/users/${eve.id}/profile`, { email: 'eve@example.com' });
    const boss = await signInAt(target, 'boss', ['admins']);
    expect(boss).toMatchObject({ email: target, role: 'admin', id: expect.not.stringContaining(eve.id) });
  });
});

describe('a first sign-in at a provider that links an existing account', () => {
  it('ends everything of a previous user of the account: sessions, tokens, password and second factor', async () => {
    const open = await openHouse(['eve']);
    const { eve } = open;
    const client = await programOf(eve, 'admin');
    expect((await client.get('/keys')).status).toBe(200);
    const link = await open.accounts.links.issuePassword(eve.id);
    await open.redis.hset(`${open.prefix}second-factor:${eve.id}`, 'any', '1');
    expect(await comes(open)('eve@example.com')).toMatchObject({ id: eve.id, passwordHash: '' });
    expect((await eve.get('/session')).status).toBe(401);
    expect((await client.get('/keys')).status).toBe(401);
    expect((await open.browser().signIn('eve@example.com', goodPassword)).status).toBe(401);
    expect(await open.accounts.links.find(link)).toBeUndefined();
    expect(await open.redis.exists(`${open.prefix}second-factor:${eve.id}`)).toBe(0);
    expect(open.announced).toContain(`user:${eve.id}`);
    // The next sign-in there ends nothing.
    const session = await open.accounts.sessions.open((await open.accounts.users.find(eve.id)) as UserRecord);
    expect(await comes(open)('eve@example.com')).toMatchObject({ id: eve.id });
    expect(await open.accounts.sessions.find(session ?? '')).toMatchObject({ id: eve.id });
  });

  it('does not let an administrator become a person whose address they have changed to their own', async () => {
    const open = await openHouse(['bob']);
    const { ada, bob } = open;
    const signInAt = comes(open);
    await ada.patch(`/users/${bob.id}/profile`, { email: 'mallory@example.com' });
    expect((await ada.get(`/users/${bob.id}`)).body).toMatchObject({ emailConfirmed: true });
    expect(await signInAt('mallory@example.com')).toBe('unconfirmed_address');
    // The address is Bob's once he has signed in with it himself.
    expect((await bob.signIn('mallory@example.com', goodPassword)).status).toBe(200);
    expect(await signInAt('mallory@example.com')).toMatchObject({ id: bob.id });
  });

  it('links an account that an administrator has made and nobody has used, also after a change of its address', async () => {
    const open = await openHouse();
    const { body } = await open.ada.post('/users', { email: 'typo@example.com' });
    await open.ada.patch(`/users/${body.id}/profile`, { email: 'kim@example.com' });
    expect(await comes(open)('kim@example.com')).toMatchObject({ id: body.id });
  });
});
