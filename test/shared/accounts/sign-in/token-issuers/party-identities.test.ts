import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { PartyIdentities } from '#shared/accounts/sign-in/token-issuers/party-identities.ts';
import { ExternalAccounts } from '#shared/accounts/sign-in/external-accounts/external-accounts.ts';
import { RouterError } from '#shared/core/errors.ts';
import { made } from '../../../../helpers/accounts/made.ts';
import { makeAdmin, openKeyStore } from '../../../../helpers/accounts/open-key-store.ts';

const person = (name: string) => ({ kind: 'person', name }) as const;
const ada = person('Ada@example.com');
const denied = { code: 'permission_denied' };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
});

/** Ada, a team, and their identities as an ingress reads them. */
async function start() {
  const open = await openKeyStore();
  await makeAdmin(open);
  const { users, teams } = open.accounts;
  const keys = { externalAccountSealer: () => undefined };
  const externals = new ExternalAccounts(open.redis, open.prefix, { keys, report: open.noteUnreadable });
  const team = await teams.create('Research');
  const state = { isAway: false, isLost: false, reads: 0, held: Promise.resolve() };
  const asked = async <T>(answer: () => Promise<T>): Promise<T> => {
    state.reads += 1;
    if (state.isAway) throw new RouterError('store_unavailable', 'away');
    const answered = await answer();
    await state.held;
    return answered;
  };
  const assertIntact = (): void => {
    if (state.isLost) throw new RouterError('store_unavailable', 'lost');
  };
  const identities = new PartyIdentities({
    users: {
      find: (id) => asked(() => users.find(id)),
      findByEmail: (email) => asked(() => users.findByEmail(email)),
      noteEmail: (...facts) => users.noteEmail(...facts),
    },
    externals: { findPerson: (subject) => asked(() => externals.findPerson(subject)) },
    teams: { list: () => asked(() => teams.list()) },
    store: { assertIntact },
  });
  const { ownerId = '' } = await identities.find(ada);
  return { users, teams, externals, team, state, identities, adaId: ownerId };
}

describe('the identity of a person or a team', () => {
  it('is read once in 30 seconds, and when a change is announced', async () => {
    const { users, identities, state, adaId } = await start();
    expect(identities.find(ada)).toMatchObject({ kind: 'user', name: 'Ada', limits: [] });
    expect(state.reads).toBe(1);
    await users.change(adaId, { limits: { tokensPerDay: 10 }, weight: 3 }, Date.now());
    expect(identities.find(ada)).toMatchObject({ limits: [] });
    identities.drop(`user:${adaId}`);
    const limits = [{ party: `user:${adaId}`, limits: { tokensPerDay: 10 } }];
    expect(await identities.find(ada)).toMatchObject({ limits, ownerWeight: 3 });
    identities.drop('user:other');
    expect(identities.find(ada)).not.toBeInstanceOf(Promise);
    vi.advanceTimersByTime(30_001);
    expect(identities.find(ada)).toBeInstanceOf(Promise);
    identities.markStale();
    expect(identities.find(ada)).toBeInstanceOf(Promise);
  });

  it('is not that of a person whose address another one becomes in lower case', async () => {
    const { identities, users, adaId } = await start();
    await users.changeEmail(adaId, 'kim@example.com', 'the person');
    await users.noteEmail(adaId, 'kim@example.com', { confirmed: true });
    expect(await identities.find(person('Kim@example.com'))).toMatchObject({ ownerId: adaId });
    await expect(async () => identities.find(person('\u212Aim@example.com'))).rejects.toMatchObject(denied);
  });

  it('is not given for an address that its person has only typed in, or that an administrator has set since their last sign-in', async () => {
    const { identities, users, adaId } = await start();
    const find = async (name: string) => identities.find(person(name));
    await users.changeEmail(adaId, 'kim@example.com', 'the person');
    const unconfirmed = 'It is not confirmed that the account with the address kim@example.com is';
    await expect(find('kim@example.com')).rejects.toThrow(unconfirmed);
    await users.changeEmail(adaId, 'dan@example.com', 'somebody else');
    await expect(find('dan@example.com')).rejects.toMatchObject(denied);
    // The person has signed in with it.
    await users.noteEmail(adaId, 'dan@example.com', { used: true });
    vi.advanceTimersByTime(1_001);
    expect(await find('dan@example.com')).toMatchObject({ ownerId: adaId });
  });

  it('of an account that waited for its person is not given to another address once the person has signed in', async () => {
    const { identities, users } = await start();
    const user = made(await users.create({ name: 'Kim', email: 'kim@example.com', role: 'member' }));
    expect(await identities.find(person('kim@example.com'))).toMatchObject({ ownerId: user.id });
    await users.changeEmail(user.id, 'admin@example.com', 'somebody else');
    await expect(async () => identities.find(person('admin@example.com'))).rejects.toMatchObject(denied);
  });

  it('is that of the team of this name or id, unless several have the name', async () => {
    const { teams, team, identities } = await start();
    const find = async (name: string) => identities.find({ kind: 'team', name });
    await teams.change(team.id, { limits: { costPerDay: 1 } });
    const expected = { id: `team:${team.id}`, kind: 'team', ownerId: team.id, limits: [{ party: `team:${team.id}` }] };
    for (const name of ['Research', team.id]) expect(await find(name)).toMatchObject(expected);
    await expect(find('Nobody')).rejects.toMatchObject(denied);
    await teams.create('Research');
    identities.markStale();
    await expect(find('Research')).rejects.toThrow('Several teams are called Research');
    expect(await find(team.id)).toMatchObject(expected);
  });

  it('is that of the person who is linked to an account at a provider', async () => {
    const { externals, users, identities, adaId } = await start();
    const account = { issuer: 'https://id.example.com', subject: 'ada-1' };
    const party = { kind: 'account', name: 'https://id.example.com ada-1', account } as const;
    await expect(identities.find(party)).rejects.toThrow('Sign in to the console');
    await externals.link({ id: adaId, email: 'ada@example.com' }, { ...account, provider: 'company' });
    vi.advanceTimersByTime(1_001);
    expect(await identities.find(party)).toMatchObject({ ownerId: adaId });
    await users.change(adaId, { limits: { tokensPerDay: 3 } }, Date.now());
    identities.drop(`user:${adaId}`);
    expect(await identities.find(party)).toMatchObject({ limits: [{ party: `user:${adaId}` }] });
    const other = { ...party, name: 'other', account: { ...account, issuer: 'https://other.example.com' } };
    await expect(identities.find(other)).rejects.toMatchObject(denied);
  });

  it('is not that of a person whom a provider has refused', async () => {
    const { users, identities, adaId } = await start();
    await users.refuse(adaId);
    identities.drop(`user:${adaId}`);
    const message = 'Your identity provider does not let you in any more. Sign in to the console of the router again.';
    await expect(async () => identities.find(ada)).rejects.toMatchObject({ ...denied, message });
  });

  it('is kept for an hour while Redis is away, and nobody new is known then', async () => {
    const { identities, state } = await start();
    state.isAway = true;
    for (let minute = 0; minute < 59; minute++) {
      vi.advanceTimersByTime(60_000);
      expect(await identities.find(ada)).toMatchObject({ name: 'Ada' });
    }
    vi.advanceTimersByTime(120_000);
    const away = { code: 'store_unavailable' };
    await expect(identities.find(ada)).rejects.toMatchObject(away);
    await expect(identities.find(person('bob@example.com'))).rejects.toMatchObject(away);
    state.isAway = false;
    expect(await identities.find(ada)).toMatchObject({ name: 'Ada' });
  });

  it('is not denied by a store that was emptied', async () => {
    const { identities, state } = await start();
    const nobody = person('nobody@example.com');
    state.isLost = true;
    await expect(identities.find(nobody)).rejects.toMatchObject({ code: 'store_unavailable' });
    state.isLost = false;
    await expect(identities.find(nobody)).rejects.toMatchObject(denied);
  });

  it('is read again when it changes while it is read', async () => {
    const { users, identities, state, adaId } = await start();
    const goOn = Promise.withResolvers<void>();
    state.held = goOn.promise;
    identities.drop(`user:${adaId}`);
    const found = identities.find(ada);
    await users.change(adaId, { limits: { tokensPerDay: 7 } }, Date.now());
    identities.drop(`user:${adaId}`);
    goOn.resolve();
    expect(await found).toMatchObject({ limits: [{ limits: { tokensPerDay: 7 } }] });
  });
});
