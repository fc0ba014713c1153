import { expect, it } from 'vitest';
import { createOwnedKey, rotateKey } from '#shared/accounts/keys/create-key.ts';
import type { KeyRecord } from '#shared/accounts/keys/key-record.ts';
import { checkExpiringKeys } from '#services/batch-runner/alerts/check-expiring-keys.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { openAlerts } from '../../../helpers/webhooks/open-test-webhooks.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Opens a cluster of its own with keys and a webhook of the router for them. */
async function open() {
  const alerts = await openAlerts('rtr.key.*');
  const { accounts, states, store } = alerts;
  const team = await accounts.teams.create('Blue');
  return {
    ...alerts,
    team,
    /** Creates a key of the team that expires `forMs` milliseconds after its creation. */
    make: async (name: string, forMs: number): Promise<KeyRecord & { expiresAt: number }> => {
      const expiresAt = Date.now() + forMs;
      const settings = { kind: 'team', ownerId: team.id, class: 'normal', name, expiresAt } as const;
      return { ...made(await createOwnedKey(store, settings)).record, expiresAt };
    },
    look: (now: number) => checkExpiringKeys({ keys: store, states }, now),
  };
}

it('a key that expires is reported a week before, a day before and at its expiry, once each, to its owner and the router', async () => {
  const { add, look, make, sent, team } = await open();
  const { endpoint: blue } = await add('https://b.example.com', { owner: `team:${team.id}`, events: ['rtr.key.*'] });
  const { id, expiresAt: end } = await make('ci', 30 * dayMs);
  const lookAll = (now: number) => Promise.all([look(now), look(now), look(now)]);
  await lookAll(end - 8 * dayMs);
  expect(await sent()).toEqual([]);
  await lookAll(end - 7 * dayMs);
  await lookAll(end - 2 * dayMs);
  const data = { id, kind: 'team', name: 'ci', owner_id: team.id };
  expect(await sent()).toMatchObject([{ type: 'rtr.key.expiring', data: { ...data, days: 7 } }]);
  await lookAll(end - dayMs);
  await lookAll(end - 1);
  expect(await sent()).toHaveLength(2);
  expect(await sent()).toContainEqual(expect.objectContaining({ data: expect.objectContaining({ days: 1 }) }));
  await lookAll(end);
  await lookAll(end + 23 * hourMs);
  await lookAll(end + 2 * dayMs);
  const types = (await sent()).map(({ type }) => type);
  expect(types.toSorted()).toEqual(['rtr.key.expired', 'rtr.key.expiring', 'rtr.key.expiring']);
  expect(await sent(blue.id)).toHaveLength(3);
});

it('a key that expires is reported again for a changed expiry, and once if the expiry is near already', async () => {
  const { look, make, sent, store } = await open();
  const { id, createdAt } = await make('ci', 30 * dayMs);
  await look(createdAt + 24 * dayMs);
  await store.change(id, { expiresAt: createdAt + 60 * dayMs });
  await look(createdAt + 54 * dayMs);
  const weekBefore = { type: 'rtr.key.expiring', data: { id, days: 7 } };
  expect(await sent()).toMatchObject([weekBefore, weekBefore]);
  await store.change(id, { expiresAt: createdAt + 55 * dayMs });
  await look(createdAt + 54.5 * dayMs);
  expect(await sent()).toHaveLength(3);
});

it('a key that expires is reported only for steps after its creation, and not if it was created for less than a day', async () => {
  const { look, make, sent } = await open();
  const [{ createdAt }] = [await make('three days', 3 * dayMs), await make('an hour', hourMs)];
  for (const now of [0, hourMs, 1.9 * dayMs, 2.1 * dayMs, 3 * dayMs + hourMs]) await look(createdAt + now);
  const named = (await sent()).map(({ type, data }) => `${type} ${'name' in data ? String(data.name) : ''}`);
  expect(named.toSorted()).toEqual(['rtr.key.expired three days', 'rtr.key.expiring three days']);
});

it('a key that expires is not reported when it was revoked or replaced, or when its owner cannot use it', async () => {
  const { redis, look, make, prefix, sent, store } = await open();
  const revoked = await make('revoked', 5 * dayMs);
  await store.revoke(revoked.id, Date.now());
  const replaced = await make('replaced', 5 * dayMs);
  const rotated = await rotateKey(store, replaced, { createdBy: 'ada', overlapMs: 2 * dayMs });
  const ada = { kind: 'user', ownerId: 'ada', name: 'blocked', class: 'normal' } as const;
  await redis.hset(`${prefix}user:ada`, { name: 'Ada', blockedAt: '1' });
  await createOwnedKey(store, { ...ada, expiresAt: Date.now() + 5 * dayMs });
  for (const days of [1.5, 2.5, 4.5, 5.1]) await look(Date.now() + days * dayMs);
  const id = typeof rotated === 'string' ? rotated : rotated.record.id;
  expect(await sent()).toMatchObject([{ data: { id } }, { data: { id } }]);
});
