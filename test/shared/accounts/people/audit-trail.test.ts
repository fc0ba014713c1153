import { beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry, AuditNote, AuditTrail } from '#shared/accounts/people/audit-trail.ts';
import { allPages } from '../../../helpers/accounts/all-pages.ts';
import { useKeyStore } from '../../../helpers/accounts/open-key-store.ts';

const day = 86_400_000;
const admin = { id: 'ada', name: 'Ada', role: 'admin' as const };
const bob = { id: 'bob', name: 'Bob', role: 'member' as const };
const eve = { id: 'eve', name: 'Eve', role: 'member' as const };

const open = useKeyStore();
let audit: AuditTrail;
beforeEach(() => void ({ audit } = open.accounts));

/** A change of a key from one value to another. */
function change(actor: AuditNote['actor'], id: string, before: unknown = 'a', after: unknown = 'b', field = 'name') {
  const details = { before: { [field]: before }, after: { [field]: after } };
  return { actor, action: 'key.change', target: { kind: 'key', id, name: id }, details };
}

/** Adds so many entries in their order. */
async function addAll(count: number, of: (at: number) => AuditNote): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, at) => audit.add(of(at))));
}

/** Returns the whole trail, newest first. */
async function everything(): Promise<AuditEntry[]> {
  const pages = await allPages((cursor?: string) => audit.list({}, 100, cursor));
  return pages.flatMap(({ entries }) => entries);
}

const of = (entries: readonly AuditEntry[], actor: { id: string } | null): AuditEntry[] =>
  entries.filter((entry) => entry.actor?.id === actor?.id);

it('the audit trail is not washed out by hundreds of changes of members', async () => {
  // Those of an administrator are entries of their own, also of one thing.
  await addAll(300, (at) => change(admin, 'k1', at, at + 1));
  await audit.add({ actor: null, action: 'key.revoke', target: null, details: {} });
  await audit.add({ ...change(bob, 'bob'), action: 'user.create' });
  for (const member of [bob, eve]) await audit.add({ ...change(member, 't1'), action: 'team.change' });
  await audit.add(change(bob, 'k2'));
  for (const member of [eve, bob]) await addAll(600, (at) => change(member, `k${at}`));
  const entries = await everything();
  expect(of(entries, admin)).toHaveLength(300);
  expect(of(entries, null)).toMatchObject([{ action: 'key.revoke' }]);
  expect(of(entries, bob)).toHaveLength(202);
  expect(of(entries, bob).slice(-2)).toMatchObject([{ action: 'team.change' }, { action: 'user.create' }]);
  expect(of(entries, eve)).toHaveLength(201);
  expect(of(entries, eve).at(-1)).toMatchObject({ action: 'team.change' });
  expect(await open.redis.keys(`${open.prefix}audit-entry:*`)).toHaveLength(entries.length);
});

it('the audit trail keeps the last 1,000 of a member about teams and people', async () => {
  await addAll(1_100, (at) => ({ ...change(bob, `t${at}`), action: 'team.change' }));
  const kept = await everything();
  expect(kept).toHaveLength(1_000);
  expect(kept.at(-1)?.target?.id).toBe('t100');
});

it('the audit trail keeps what a member did to a team, its keys and their account, however much they do to things of their own', async () => {
  await audit.add({ ...change(bob, 't1'), action: 'team.change' });
  await audit.add({ ...change(bob, 'k1'), ofTeam: true });
  const self = { kind: 'user', id: bob.id, name: bob.name };
  await audit.add({ ...change(bob, bob.id), action: 'user.email', target: self });
  for (const about of ['token', 'program', 'connection', 'second-factor', 'something-new'])
    await addAll(220, (at) => ({ ...change(bob, `${about}-${at}`), action: `${about}.create` }));
  const entries = await everything();
  expect(entries).toHaveLength(203);
  expect(entries.slice(-3).map(({ action }) => action)).toEqual(['user.email', 'key.change', 'team.change']);
  expect(entries.some((entry) => 'ofTeam' in entry)).toBe(false);
});

it('the audit trail bounds refused sign-ins by themselves', async () => {
  await audit.add(change(bob, 'k1'));
  const refused = { actor: null, action: 'session.refused', target: null };
  await addAll(1_100, (at) => ({ ...refused, details: { address: `10.0.0.${at}` } }));
  const entries = await everything();
  expect(of(entries, null)).toHaveLength(1_000);
  expect(of(entries, bob)).toHaveLength(1);
});

describe('repeated changes of a member', () => {
  it('are one entry with a count, the value before the first and the one after the last, at the place of the last', async () => {
    await audit.add(change(bob, 'k1'));
    await audit.add(change(eve, 'k9'));
    await audit.add(change(bob, 'k1', 'b', 'c'));
    await audit.add(change(bob, 'k1', 'c', 'd'));
    const [merged, other, ...rest] = await everything();
    expect(rest).toEqual([]);
    const details = { before: { name: 'a' }, between: [{ name: 'b' }, { name: 'c' }], after: { name: 'd' } };
    expect(merged).toMatchObject({ actor: { id: 'bob' }, count: 3, details });
    expect(merged?.since).toBeLessThanOrEqual(merged?.at ?? 0);
    expect(other).toMatchObject({ actor: { id: 'eve' } });
    expect(other).not.toHaveProperty('count');
  });

  it('of other fields, other things, other people or with other facts are entries of their own', async () => {
    const changes = [change(bob, 'k1'), change(bob, 'k2'), change(eve, 'k1')];
    for (const each of [...changes, change(bob, 'k1', 'low', 'normal', 'class')]) await audit.add(each);
    const rotation = { ...change(bob, 'k1'), action: 'key.rotate' };
    for (const newId of ['k3', 'k4']) await audit.add({ ...rotation, details: { newId } });
    expect(await everything()).toHaveLength(6);
  });

  it('show the values between, also when a change is undone, and are at most twenty in one entry', async () => {
    const role = (before: string, after: string): AuditNote => {
      const details = { user: { id: 'eve', name: 'Eve' }, before, after };
      return { actor: bob, action: 'team.member.change', target: { kind: 'team', id: 't1', name: 'Blue' }, details };
    };
    for (let count = 0; count < 2; count++) {
      await audit.add(role('member', 'owner'));
      await audit.add(role('owner', 'member'));
    }
    const details = { before: 'member', between: ['owner', 'member', 'owner'], after: 'member' };
    expect(await everything()).toMatchObject([{ count: 4, details }]);
    for (let count = 0; count < 20; count++) await audit.add(role('owner', 'member'));
    const [newest, oldest, ...rest] = await everything();
    expect(rest).toEqual([]);
    expect([newest?.count, oldest?.count]).toEqual([4, 20]);
    expect(oldest?.details['between']).toHaveLength(19);
  });

  it('with long values begin another entry before they fill the store', async () => {
    await addAll(10, (at) => change(bob, 'k1', at, 'v'.repeat(3_900)));
    expect((await everything()).map(({ count = 1 }) => count)).toEqual([3, 7]);
  });

  it('from another place are an entry of their own', async () => {
    const from = { address: '10.0.0.1', session: 'hers' };
    await audit.add({ ...change(bob, 'k1'), from });
    await audit.add({ ...change(bob, 'k1', 'b', 'c'), from: { ...from, token: { id: 't', name: 'ci' } } });
    await audit.add({ ...change(bob, 'k1', 'c', 'd'), from });
    expect(await everything()).toMatchObject([{ count: 2, from }, { from: { token: { name: 'ci' } } }]);
  });

  it('are merged for ten minutes from the first one on', async () => {
    const { redis } = open;
    await audit.add(change(bob, 'k1'));
    const [latest = ''] = await redis.keys(`${open.prefix}audit-latest:*`);
    expect(await redis.pttl(latest)).toBeGreaterThan(590_000);
    await redis.pexpire(latest, 300_000);
    await audit.add(change(bob, 'k1', 'b', 'c'));
    expect(await redis.pttl(latest)).toBeLessThanOrEqual(300_000);
    await redis.del(latest);
    await audit.add(change(bob, 'k1', 'c', 'd'));
    expect(await everything()).toMatchObject([{ details: { before: { name: 'c' } } }, { count: 2 }]);
  });
});

describe('an entry', () => {
  it('is kept for 400 days, and leaves nothing behind', async () => {
    const { redis } = open;
    await audit.add(change(admin, 'k1'));
    const [id = ''] = await redis.zrange(`${open.prefix}audit-index`, '0', '-1');
    for (const name of [`audit-entry:${id}`, 'audit-quota:privileged'])
      expect((await redis.pttl(`${open.prefix}${name}`)) / day).toBeCloseTo(400, 1);
    // As if it had been made 401 days ago.
    const old = String((Date.now() - 401 * day) * 1_000);
    for (const set of ['audit-index', 'audit-quota:privileged'])
      await redis.multi().zrem(`${open.prefix}${set}`, id).zadd(`${open.prefix}${set}`, old, old).exec();
    await redis.del(`${open.prefix}audit-entry:${id}`);
    expect(await everything()).toEqual([]);
    await audit.add(change(admin, 'k2'));
    for (const set of ['audit-index', 'audit-quota:privileged'])
      expect(await redis.zrange(`${open.prefix}${set}`, '0', '-1')).toHaveLength(1);
  });

  it('has a place of its own among those of the same millisecond', async () => {
    await addAll(250, (at) => change(admin, `k${at}`));
    const entries = await everything();
    expect(new Set(entries.map(({ id }) => id)).size).toBe(250);
    const ids = Array.from({ length: 250 }, (_, at) => `k${at}`);
    expect(entries.map(({ target }) => target?.id)).toEqual(ids.toReversed());
  });

  it('with a very long value shortens that and keeps the others, also those between', async () => {
    const models = Array.from({ length: 100 }, (_, index) => `${'m'.repeat(190)}${index}`);
    const before = { name: 'before', models: [] };
    for (const name of ['one', 'two', 'three'])
      await audit.add({ ...change(bob, 'k1'), details: { before, after: { name, models } } });
    const short = (name: string) => ({ name, models: expect.stringMatching(/^\["m{190}0","m{190}1.*…$/) });
    const details = { before, between: [short('one'), short('two')], after: short('three') };
    expect((await everything())[0]?.details).toEqual(details);
  });

  it('with very many values keeps the names of the fields', async () => {
    const after = Object.fromEntries(Array.from({ length: 600 }, (_, index) => [`field${index}`, 'value']));
    await audit.add({ ...change(bob, 'k1'), details: { after } });
    expect((await everything())[0]?.details).toEqual({ tooLong: expect.any(Number), fields: Object.keys(after) });
  });

  it('that cannot be read is left out, and does not end a page early', async () => {
    const { redis } = open;
    await addAll(150, (at) => change(admin, `k${at}`));
    const ids = await redis.zrange(`${open.prefix}audit-index`, '-30', '-1');
    for (const id of ids) await redis.hset(`${open.prefix}audit-entry:${id}`, 'note', 'hunter2');
    expect((await audit.list()).entries).toHaveLength(100);
    expect(await everything()).toHaveLength(120);
    expect(open.unreadable.join()).not.toContain('hunter2');
    expect(open.unreadable.length).toBeGreaterThan(0);
  });

  it('of a newer release is read without what this release does not know', async () => {
    const { redis } = open;
    await audit.add(change(admin, 'k1'));
    const [id = ''] = await redis.zrange(`${open.prefix}audit-index`, '0', '-1');
    const actor = { id: 'ada', name: 'Ada', role: 'owner' };
    const note = { ...change(admin, 'k1'), actor, from: '10.0.0.1' };
    await redis.hset(`${open.prefix}audit-entry:${id}`, { note: JSON.stringify(note), signature: 'x' });
    expect(await everything()).toMatchObject([{ actor: { id: 'ada', name: 'Ada' }, action: 'key.change' }]);
  });
});
