import { describe, expect, it, vi } from 'vitest';
import { deletePerson } from '#shared/accounts/people/delete-person.ts';
import { signInSchema } from '#shared/registry/sign-in.ts';
import { admitPerson } from '#services/console/api/oidc/admit-person.ts';
import { made } from '../../../../helpers/accounts/made.ts';
import { openExternals } from '../../../../helpers/accounts/open-externals.ts';
import { openKeyStore } from '../../../../helpers/accounts/open-key-store.ts';
import { silentLog } from '../../../../helpers/silent-log.ts';

const email = 'grace@example.com';
const claims = { sub: 'grace', name: 'Grace', email, email_verified: true };

/** A provider with rules, at which people are admitted. */
async function open() {
  const store = await openKeyStore();
  const { accounts, redis, prefix } = store;
  const externals = openExternals(store);
  const groups = [{ group: 'lab', teams: ['One', 'Two'] }];
  const rules = { name: 'company', issuer: 'https://id.example.com', client_id: 'router', domains: ['*'], groups };
  const [provider] = signInSchema.parse({ providers: [rules] }).providers;
  if (!provider) throw new Error('no provider');
  const announce = vi.fn<(changed: string) => Promise<void>>();
  const parts = { accounts, externals, announce, log: silentLog };
  const admit = (more: object = {}, of = provider) => admitPerson(parts, of, { ...claims, ...more });
  /** Makes an account with Grace's address, with which its person has signed in. */
  const addLocal = async () => {
    const user = made(await accounts.users.create({ name: 'Grace', email, role: 'member' }));
    await redis.hset(`${prefix}user:${user.id}`, 'passwordHash', 'a hash', 'usedEmail', email);
    return user;
  };
  const actions = async () => (await accounts.audit.list()).entries.map(({ action }) => action);
  return { ...store, externals, provider, announce, admit, addLocal, actions };
}

describe('a person who signs in at a provider for the first time, in several windows at once', () => {
  it('is linked to their account in one window, and signed in in all', async () => {
    const { admit, addLocal, actions } = await open();
    const { id, epoch } = await addLocal();
    const admitted = await Promise.all(Array.from({ length: 5 }, () => admit()));
    expect(admitted).toEqual(Array(5).fill(expect.objectContaining({ id, email })));
    expect((await admit()) as object).toMatchObject({ id, epoch: epoch + 1 });
    expect(await actions()).toEqual(['user.link']);
  });

  it('gets one account', async () => {
    const { admit, actions } = await open();
    const admitted = await Promise.all(Array.from({ length: 5 }, () => admit()));
    expect(new Set(admitted.map((each) => (typeof each === 'string' ? each : each.id))).size).toBe(1);
    expect(admitted[0]).toMatchObject({ email });
    expect(await actions()).toEqual(['user.create']);
  });

  it('is not signed in as somebody else with the same address', async () => {
    const { admit, addLocal } = await open();
    await addLocal();
    const admitted = await Promise.all(['one', 'two', 'three'].map((sub) => admit({ sub })));
    expect(admitted.filter((each) => each === 'other_account')).toHaveLength(2);
  });
});

it('a blocked person is not linked to their account, which keeps its password', async () => {
  const { accounts, admit, addLocal, externals, actions } = await open();
  const { id } = await addLocal();
  await accounts.users.change(id, { blocked: true }, Date.now());
  expect(await admit()).toBe('blocked');
  expect(await externals.find(id)).toBeUndefined();
  expect(await accounts.users.find(id)).toMatchObject({ passwordHash: 'a hash' });
  expect(await actions()).toEqual([]);
});

it('a person who has signed in before cannot sign in while they are blocked', async () => {
  const { accounts, admit } = await open();
  const { id } = (await admit()) as { id: string };
  await accounts.users.change(id, { blocked: true }, Date.now());
  expect(await admit()).toBe('blocked');
});

describe('the rules of a provider', () => {
  it('end the tokens of a team as soon as their person has left it', async () => {
    const { accounts, admit, announce } = await open();
    for (const name of ['One', 'Two']) await accounts.teams.create(name);
    const { id } = made(await admit({ groups: ['lab'] }));
    expect((await accounts.teams.teamsOf(id)).size).toBe(2);
    const left: number[] = [];
    announce.mockImplementation(async (changed) => {
      expect(changed).toBe(`user:${id}`);
      left.push((await accounts.teams.teamsOf(id)).size);
    });
    await admit();
    expect(left).toEqual([1, 0]);
  });

  it('change the role of a person on all nodes at once', async () => {
    const { accounts, admit, announce, provider, actions } = await open();
    const { id } = made(await admit());
    const roles: (string | undefined)[] = [];
    announce.mockImplementation(async (changed) => {
      expect(changed).toBe(`user:${id}`);
      roles.push((await accounts.users.find(id))?.role);
    });
    const groups = [{ group: 'admins', role: 'admin' as const, teams: [] }];
    await admit({ groups: ['admins'] }, { ...provider, groups });
    expect(roles).toEqual(['admin']);
    expect(await actions()).toEqual(['user.role', 'user.create']);
  });

  it('record no role of a person who was deleted', async () => {
    const { accounts, redis, prefix, provider, admit, actions } = await open();
    await admit();
    const groups = [{ group: 'admins', role: 'admin' as const, teams: [] }];
    const change = accounts.users.change.bind(accounts.users);
    vi.spyOn(accounts.users, 'change').mockImplementationOnce(async (id, ...rest) => {
      expect(await deletePerson({ redis, prefix, ...accounts }, id)).toBe('deleted');
      return change(id, ...rest);
    });
    expect(await admit({ groups: ['admins'] }, { ...provider, groups })).toBe('other_account');
    expect(await actions()).toEqual(['user.create']);
  });
});
