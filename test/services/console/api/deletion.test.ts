import { describe, expect, it } from 'vitest';
import { createOwnedKey } from '#shared/accounts/keys/create-key.ts';
import { nameRequests } from '#shared/accounts/ledger/name-requests.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import type { AuditNote } from '#shared/accounts/people/audit-trail.ts';
import { deletedName } from '#shared/accounts/people/delete-person.ts';
import { partyNames } from '#shared/accounts/people/party-names.ts';
import type { AuditEntry } from '#services/console/contract/audit.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { openHouse, openTeam } from '../../../helpers/console/open-console.ts';
import { goodPassword } from '../../../helpers/console/good-password.ts';
import { refusal } from '../../../helpers/console/refusals.ts';

describe('a person who is deleted', () => {
  it('loses keys, sessions, memberships and everything else, and the address can be used again', async () => {
    const { ada, bob, join, store, accounts, redis, prefix, browser, verifier } = await openHouse(['bob']);
    const { body: team } = await ada.post('/teams', { name: 'Research' });
    await ada.put(`/teams/${team.id}/members/${bob.id}`, { role: 'member' });
    const settings = { kind: 'user', name: "Bob's laptop", class: 'normal', ownerId: bob.id } as const;
    const key = made(await createOwnedKey(store, settings));
    expect(await verifier.verify(key.rawKey)).toMatchObject({ ownerId: bob.id });
    expect((await bob.delete(`/users/${ada.id}`)).status).toBe(403);
    expect((await ada.delete(`/users/${bob.id}`)).status).toBe(204);
    await expect(verifier.verify(key.rawKey)).rejects.toMatchObject({ code: 'invalid_api_key' });
    expect((await bob.get('/session')).status).toBe(401);
    expect((await browser().signIn('bob@example.com', goodPassword)).status).toBe(401);
    expect((await ada.get('/teams')).body).toMatchObject([{ members: [] }]);
    expect((await ada.delete(`/users/${bob.id}`)).status).toBe(404);
    const names = await redis.keys(`${prefix}*${bob.id}*`);
    expect(await Promise.all(names.map((name) => redis.pttl(name)))).not.toContain(-1);
    expect(await store.list()).toEqual([]);
    expect((await store.find(key.record.id))?.name).toBe('deleted');
    const again = await join(ada, 'bob@example.com');
    expect(again.id).not.toBe(bob.id);
    expect((await accounts.users.list()).map(({ email }) => email)).toEqual(['ada@example.com', 'bob@example.com']);
  });

  it('has no name any more in any entry of the audit trail', async () => {
    const { ada, bob } = await openHouse(['bob']);
    await ada.patch(`/users/${bob.id}`, { role: 'admin' });
    const { body: team } = await bob.post('/teams', { name: 'Research' });
    await bob.put(`/teams/${team.id}/members/${bob.id}`, { role: 'member' });
    await bob.patch('/account', { name: 'Robert Tables' });
    await ada.delete(`/users/${bob.id}`);
    const body = (await ada.get('/audit')).body.data;
    expect(body[0]).toMatchObject({ action: 'user.delete', actor: { name: 'Ada' }, target: { id: bob.id } });
    const about = body.filter((entry: unknown) => JSON.stringify(entry).includes(bob.id));
    expect(about.length).toBeGreaterThan(4);
    expect(JSON.stringify(about)).not.toMatch(/bob@example\.com|Robert|"bob"/);
    expect(JSON.stringify(about)).toContain(deletedName(bob.id));
  });

  it('leaves in the audit trail only the names of keys and tokens that belong to teams and others', async () => {
    const { ada, bob, teamId, accounts } = await openTeam();
    const { body: own } = await bob.post('/keys', { kind: 'user', name: 'secret 0' });
    for (const name of ['secret 1', 'secret 2', 'secret 3']) await bob.patch(`/keys/${own.key.id}`, { name });
    await ada.patch(`/keys/${own.key.id}`, { name: 'secret 4' });
    await bob.post(`/keys/${own.key.id}/rotate`, { overlapMs: 0 });
    const { body: token } = await bob.post('/tokens', { name: 'secret token', scopes: ['read'] });
    await ada.delete(`/tokens/${token.token.id}`);
    const { body: ofTeam } = await bob.post('/keys', { kind: 'team', teamId, name: 'team key' });
    await bob.patch(`/keys/${ofTeam.key.id}`, { name: 'team key 1' });
    await ada.post('/keys', { kind: 'user', name: 'of ada' });
    // Entries that do not state an owner: the record of the key decides or, without one, the actor owns it.
    const byAda = { id: ada.id, name: 'Ada', role: 'member' } as const;
    const byBob = { id: bob.id, name: 'bob', role: 'member' } as const;
    const old = (actor: AuditNote['actor'], kind: string, id: string, name: string, details = {}) =>
      accounts.audit.add({ actor, action: `${kind}.revoke`, target: { kind, id, name }, details });
    await old(byAda, 'key', own.key.id, 'secret old key');
    await old(null, 'key', own.key.id, 'secret old key of rtr');
    await old(byBob, 'key', ofTeam.key.id, 'old team key');
    await old(byBob, 'token', 'gone', 'secret old token');
    // The record of a key is removed when its owner has too many.
    await old(null, 'key', 'gone', 'secret key without a record', { kind: 'user', ownerId: bob.id });
    const entries = async () => (await ada.get('/audit')).body.data as AuditEntry[];
    const namesOf = (trail: AuditEntry[]) => trail.map(({ target }) => target?.name);
    const before = await entries();
    expect(namesOf(before).filter((name) => name?.startsWith('secret'))).toHaveLength(10);
    expect(before.find(({ count }) => count === 3)?.details).toMatchObject({ between: [{}, {}] });
    await ada.delete(`/users/${bob.id}`);
    const [, ...after] = await entries();
    expect(JSON.stringify(after)).not.toContain('secret');
    const gone = deletedName(bob.id);
    expect(namesOf(after)).toEqual(namesOf(before).map((name = '') => (/^secret|^bob$/.test(name) ? gone : name)));
    const name = { name: gone };
    const merged = { kind: 'user', ownerId: bob.id, before: name, between: [name, name], after: name };
    expect(after.find(({ count }) => count === 3)?.details).toEqual(merged);
    expect(namesOf(after)).toEqual(expect.arrayContaining(['team key', 'old team key', 'of ada']));
    expect(JSON.stringify(after)).toContain('team key 1');
    const { body: file } = await ada.get('/audit/export?format=json');
    expect(file).toHaveLength(after.length + 1);
    expect(JSON.stringify(file)).not.toContain('secret');
  });

  it('can delete their own account with the password, unless they are the last administrator', async () => {
    const { ada, bob } = await openHouse(['bob']);
    expect(await ada.ask('DELETE', '/account', { password: goodPassword })).toMatchObject(refusal(409, 'last_admin'));
    expect((await ada.get('/session')).status).toBe(200);
    for (const wrong of [{ password: 'wrong' }, {}])
      expect((await bob.ask('DELETE', '/account', wrong)).status).toBe(403);
    expect((await bob.ask('DELETE', '/account', { password: goodPassword })).status).toBe(204);
    expect((await bob.get('/session')).status).toBe(401);
    expect((await ada.get('/users')).body).toHaveLength(1);
    const entry = { action: 'user.delete', actor: { id: bob.id, name: deletedName(bob.id) } };
    expect((await ada.get('/audit')).body.data[0]).toMatchObject(entry);
  });

  it('can be deleted again after a crash in the middle, and is refused meanwhile', async () => {
    const { bob, accounts, browser } = await openHouse(['bob']);
    // As after the first step.
    await accounts.users.change(bob.id, { blocked: true }, Date.now());
    expect((await browser().signIn('bob@example.com', goodPassword)).status).toBe(401);
    expect(await accounts.deletePerson(bob.id)).toBe('deleted');
    expect(await accounts.deletePerson(bob.id)).toBe('unknown');
  });

  it('keeps the place in the ledger, under a pseudonym that is always the same', async () => {
    const { ada, bob, accounts } = await openHouse(['bob']);
    const recordOf = (key: UsageRecord['key'], owner: UsageRecord['owner']) =>
      ({ id: 'r', key, owner, cost: 0 }) as UsageRecord;
    const records = [
      recordOf({ id: 'key1', name: "Bob's laptop" }, { kind: 'user', id: bob.id }),
      recordOf({ id: `session:${bob.id}`, name: 'bob' }, { kind: 'user', id: bob.id }),
      recordOf({ id: `session:${bob.id}:team1`, name: 'bob' }, { kind: 'team', id: 'team1' }),
      recordOf({ id: 'key2', name: 'ada' }, { kind: 'user', id: ada.id }),
    ];
    const named = () => nameRequests((parties) => partyNames(accounts, parties))(records);
    expect((await named()).map(({ key }) => key.name)).toEqual(["Bob's laptop", 'bob', 'bob', 'ada']);
    await ada.delete(`/users/${bob.id}`);
    const after = await named();
    const gone = deletedName(bob.id);
    expect(after.map(({ key }) => key.name)).toEqual([gone, gone, gone, 'ada']);
    expect(after.map(({ owner }) => owner?.name)).toEqual([gone, gone, 'team1', 'Ada']);
    expect(gone).toMatch(/^deleted person \w{4}$/);
  });
});
