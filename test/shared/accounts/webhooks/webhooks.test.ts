import { expect, it } from 'vitest';
import { RedisScript } from '#shared/store/redis/redis-script.ts';
import { createEventId, toScriptEvent } from '#shared/accounts/webhooks/webhook-outbox.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { makeAdmin } from '../../../helpers/accounts/open-key-store.ts';
import { openTestWebhooks } from '../../../helpers/webhooks/open-test-webhooks.ts';

const url = 'https://hooks.example.com/a';
const dayMs = 24 * 3_600_000;

/** Webhooks, and Ada as an owner of some. */
async function openWithAda() {
  const open = await openTestWebhooks();
  return { ...open, owner: `user:${(await makeAdmin(open)).id}` as const };
}

/** Webhooks with one endpoint of the router. */
async function openWithEndpoint() {
  const open = await openTestWebhooks();
  return { ...open, ...(await open.add(url)) };
}

it('an endpoint has a secret that is shown once and sealed at rest, for its owner alone', async () => {
  const { endpoints, redis, prefix, endpoint, secret } = await openWithEndpoint();
  const stored = await redis.hgetall(`${prefix}webhook:${endpoint.id}`);
  expect(JSON.stringify(stored)).not.toContain(secret.slice(6, 30));
  const found = made(await endpoints.find(endpoint.id));
  expect(found).toMatchObject({ owner: 'router', url, events: ['batch.*'] });
  expect(endpoints.unsealSigningSecrets(found)).toEqual([secret]);
  expect(endpoints.unsealSigningSecrets({ ...found, owner: 'user:eve' })).toBeUndefined();
});

it('an endpoint signs with the secret before too until the overlap has passed', async () => {
  const { endpoints, endpoint, secret: first } = await openWithEndpoint();
  const second = await endpoints.rotate(endpoint, 60_000);
  const third = await endpoints.rotate(endpoint, 60_000);
  const secretsNow = async () => endpoints.unsealSigningSecrets(made(await endpoints.find(endpoint.id)));
  expect(await secretsNow()).toEqual([third, second, first]);
  const fourth = await endpoints.rotate(endpoint, 0);
  expect(await secretsNow()).toEqual([fourth]);
});

it('an endpoint needs an owner who is there and not blocked, and an owner has twenty', async () => {
  const { add, endpoints, owner } = await openWithAda();
  await expect(add(url, { owner: 'user:nobody' })).rejects.toThrow('no owner');
  for (let made = 0; made < 20; made++) await add(url, { owner });
  await expect(add(url, { owner })).rejects.toThrow('too many');
  expect(await endpoints.list(owner)).toHaveLength(20);
  const [first] = await endpoints.list(owner);
  expect(await endpoints.delete(first?.id ?? '')).toBe(true);
  await add(url, { owner });
  expect(await endpoints.list()).toHaveLength(20);
});

it('an endpoint that another release wrote does not cost other endpoints their events', async () => {
  const { add, outbox, batchEvent, redis, prefix, endpoint } = await openWithEndpoint();
  await add(url);
  await redis.hset(`${prefix}webhook:${endpoint.id}`, 'events', 'all of them');
  expect(await outbox.emit(batchEvent())).toBe(1);
});

it('an event goes to the endpoints of its owners that have selected its type or group, and are enabled', async () => {
  const { add, outbox, endpoints, deliveries, accounts, batchEvent, owner: user } = await openWithAda();
  const blue = `team:${(await accounts.teams.create('Blue')).id}` as const;
  const wanted = await add(url, { owner: user, events: ['batch.completed', 'response.failed'] });
  await add(url, { owner: user, events: ['batch.failed', 'response.*'] });
  const { endpoint: disabled } = await add(url, { owner: user });
  await endpoints.change(disabled.id, { enabled: false });
  await add(url, { owner: blue });
  await add(url);
  const event = batchEvent(user);
  expect(await outbox.emit(event)).toBe(1);
  const [delivery] = await deliveries.list(wanted.endpoint.id, { limit: 10 });
  expect(delivery).toMatchObject({ event: event.id, type: 'batch.completed', state: 'pending', attempts: 0 });
  const { id, type, data } = event;
  const body = { id, object: 'event', type, created_at: expect.closeTo(Date.now() / 1000, -1), data };
  expect(JSON.parse(delivery?.body ?? '')).toEqual(body);
  // Of several owners, and again: it is the same event.
  expect(await outbox.emit({ ...batchEvent(), owners: [blue, 'router', user] })).toBe(3);
  expect(await outbox.emit(event)).toBe(1);
  expect(await deliveries.list(wanted.endpoint.id, { limit: 10 })).toHaveLength(2);
});

it('an event of a blocked person, or of one whom their provider has refused and who has no password, goes nowhere', async () => {
  const { add, outbox, batchEvent, deliveries, redis, prefix, owner } = await openWithAda();
  const { endpoint } = await add(url, { owner });
  const emit = async (facts: object) => {
    await redis.hset(`${prefix}${owner}`, facts);
    return outbox.emit(batchEvent(owner));
  };
  expect(await emit({ refusedAt: 1 })).toBe(0);
  expect(await emit({ passwordHash: 'any' })).toBe(1);
  expect(await emit({ passwordHash: '' })).toBe(0);
  await redis.hdel(`${prefix}${owner}`, 'refusedAt');
  expect(await emit({ passwordHash: '' })).toBe(1);
  expect(await deliveries.list(endpoint.id, { limit: 10 })).toHaveLength(2);
  expect(await emit({ blockedAt: 1 })).toBe(0);
});

it('an event is stored by a script together with the change that it reports', async () => {
  const { sent, redis, prefix, endpoint } = await openWithEndpoint();
  const emit = new URL('../../../../shared/accounts/webhooks/lua/emit.lua', import.meta.url);
  const script = new RedisScript(emit, new URL('change-and-emit.lua', import.meta.url));
  const facts = { type: 'batch.expired' as const, data: { list: [], o: {} } };
  const event = toScriptEvent({ id: createEventId(), owners: ['router'], ...facts });
  expect(await script.run(redis, { args: { prefix, event } })).toBe(1);
  expect(await redis.get(`${prefix}state`)).toBe('expired');
  expect(await sent(endpoint.id)).toEqual([facts]);
});

it('an event that a thousand others wait before is given up, and can be repeated', async () => {
  const { outbox, deliveries, batchEvent, redis, prefix, endpoint } = await openWithEndpoint();
  const waiting = Array.from({ length: 1_000 }, (_, at) => [String(at), `wh_${at}`]);
  await redis.zadd(`${prefix}webhook-pending:${endpoint.id}`, ...waiting.flat());
  await outbox.emit(batchEvent());
  const [dead] = await deliveries.list(endpoint.id, { state: 'dead', limit: 10 });
  expect(dead).toMatchObject({ lastError: 'too many deliveries of this endpoint are waiting' });
  expect(await deliveries.repeat(endpoint.id)).toBe(0);
  await redis.zpopmin(`${prefix}webhook-pending:${endpoint.id}`, 1);
  expect(await deliveries.repeat(endpoint.id)).toBe(1);
});

const delivered = { state: 'delivered', counts: true, status: 200, ms: 1 } as const;

it('deliveries are taken by one runner, four of an endpoint at once, and those of others meanwhile', async () => {
  const { add, outbox, deliveries, batchEvent, accounts } = await openTestWebhooks();
  const blue = `team:${(await accounts.teams.create('Blue')).id}` as const;
  await add(url);
  for (let sent = 0; sent < 9; sent++) await outbox.emit(batchEvent());
  await add(url, { owner: blue });
  await outbox.emit(batchEvent(blue));
  const taken = (await Promise.all([1, 2, 3].map(() => deliveries.takeDue(20)))).flat();
  expect([taken.length, new Set(taken.map(({ id }) => id)).size]).toEqual([5, 5]);
  // One that has ended makes room for the next.
  await deliveries.end(made(taken[0]), delivered);
  expect(await deliveries.takeDue(20)).toHaveLength(1);
});

it('deliveries come back when their runner dies before or during a try, and each try is made once', async () => {
  const { outbox, deliveries, batchEvent, makeDue, redis, prefix, endpoint } = await openWithEndpoint();
  await outbox.emit(batchEvent());
  const [lost] = await deliveries.takeDue(20);
  expect(await deliveries.takeDue(20)).toEqual([]);
  await makeDue(endpoint.id);
  const due = made((await deliveries.takeDue(20))[0]);
  expect(due).toEqual(lost);
  expect(await deliveries.beginTry(due)).toMatchObject({ id: due.id, attempts: 0 });
  expect(await deliveries.beginTry(due)).toBeUndefined();
  // The runner dies: its lease passes.
  await redis.hset(`${prefix}webhook-delivery:${due.id}`, 'runningUntil', 1);
  await makeDue(endpoint.id);
  expect(await deliveries.takeDue(20)).toEqual([due]);
  expect(await deliveries.beginTry(due)).toMatchObject({ id: due.id });
  const failed = { state: 'pending', delayMs: 60_000, counts: true, status: 500, ms: 3 } as const;
  expect(await deliveries.end(due, failed)).toBe(true);
  // What the first runner finds out is too late, and so is a job that was queued twice.
  expect(await deliveries.end(due, { state: 'dead', counts: true, ms: 3 })).toBe(false);
  expect(await deliveries.beginTry(due)).toBeUndefined();
  const known = { state: 'pending', attempts: 1, lastStatus: 500 };
  expect(await deliveries.find(endpoint.id, due.id)).toMatchObject(known);
});

it('deliveries that have ended are bounded, expire, and go with their endpoint', async () => {
  const { outbox, deliveries, endpoints, batchEvent, redis, prefix, endpoint } = await openWithEndpoint();
  for (let sent = 0; sent < 103; sent++) {
    await outbox.emit(batchEvent());
    await deliveries.end(made((await deliveries.takeDue(1))[0]), delivered);
  }
  const kept = await deliveries.list(endpoint.id, { state: 'delivered', limit: 500 });
  expect(kept).toHaveLength(100);
  expect(await redis.pttl(`${prefix}webhook-delivery:${kept[0]?.id}`)).toBeGreaterThan(30 * dayMs - 600_000);
  await outbox.emit(batchEvent());
  expect(await endpoints.delete(endpoint.id)).toBe(true);
  expect(await redis.keys(`${prefix}webhook*`)).toEqual([]);
});

it('deliveries are late for as long as the one that has been due longest waits', async () => {
  const { add, outbox, deliveries, batchEvent, redis, prefix } = await openTestWebhooks();
  expect(await deliveries.readLateMs()).toBe(0);
  const { endpoint } = await add(url);
  await outbox.emit(batchEvent());
  await redis.zadd(`${prefix}webhook-due`, Date.now() - 60_000, endpoint.id);
  expect(await deliveries.readLateMs()).toBeGreaterThanOrEqual(60_000);
});
