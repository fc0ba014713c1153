import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { openWebhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import { createWebhookDeliverer } from '#services/batch-runner/webhooks/deliver-webhook.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { openTestWebhooks } from '../../../helpers/webhooks/open-test-webhooks.ts';
import { startReceiver } from '../../../helpers/webhooks/start-receiver.ts';
import { until } from '../../../helpers/until.ts';

const client = new OpenAI({ apiKey: 'none' });
const never = new AbortController().signal;
const dayMs = 24 * 3_600_000;

/** Opens an endpoint of the router for events of batches, and its receiver, which answers with this status. */
async function open({ status = 204, ...options }: Parameters<typeof openTestWebhooks>[0] & { status?: number } = {}) {
  const [receiver, webhooks] = [await startReceiver(), await openTestWebhooks(options)];
  receiver.answerWith(status);
  const { endpoint, secret } = await webhooks.add(receiver.url);
  return {
    receiver,
    ...webhooks,
    endpoint,
    secret,
    emit: () => webhooks.outbox.emit(webhooks.batchEvent()),
    list: (state?: 'dead') => webhooks.deliveries.list(endpoint.id, { ...(state && { state }), limit: 10 }),
  };
}

describe('a webhook', () => {
  it('is delivered as the official SDK expects it, with the previous secret too during a rotation', async () => {
    const { receiver, outbox, emit, list, endpoints, batchEvent, deliverDue, endpoint, secret } = await open();
    const event = batchEvent();
    await outbox.emit(event);
    expect(await deliverDue()).toEqual(['delivered']);
    const [message] = receiver.messages;
    const id = expect.stringMatching(/^wh_[0-9a-f]{40}$/) as string;
    expect(message?.headers).toMatchObject({ 'content-type': 'application/json', 'webhook-id': id });
    const completed = { object: 'event', type: 'batch.completed', data: { id: 'batch_1' } };
    const received = await client.webhooks.unwrap(message?.body ?? '', message?.headers ?? {}, secret);
    expect(received).toEqual({ ...completed, id: event.id, created_at: expect.any(Number) });
    const newer = await endpoints.rotate(endpoint, 60_000);
    await emit();
    await deliverDue();
    const [, second] = receiver.messages;
    for (const each of [secret, String(newer)])
      await client.webhooks.unwrap(second?.body ?? '', second?.headers ?? {}, each);
    const delivered = { state: 'delivered', attempts: 1, lastStatus: 204 };
    expect(await list()).toMatchObject([delivered, delivered]);
  });

  it('is tried again with the same id and body, and a new signature', async () => {
    const { receiver, emit, list, deliverDue, makeDue, endpoint, secret } = await open({ status: 503 });
    const begunAt = Date.now();
    await emit();
    expect(await deliverDue()).toEqual(['failed']);
    const [waiting] = await list();
    expect(waiting).toMatchObject({ state: 'pending', attempts: 1, lastStatus: 503, lastError: 'it answered 503' });
    expect((waiting?.nextAt ?? 0) - begunAt).toBeGreaterThan(3_000);
    expect(await deliverDue()).toEqual([]);
    receiver.answerWith(200);
    await makeDue(endpoint.id);
    expect(await deliverDue()).toEqual(['delivered']);
    const [first, second] = receiver.messages;
    expect(second?.body).toBe(first?.body);
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id']);
    await client.webhooks.unwrap(second?.body ?? '', second?.headers ?? {}, secret);
  });

  it('is given up after a day, and delivered when it is repeated', async () => {
    const { receiver, add, emit, list, deliveries, deliverDue, makeDue, ...opened } = await open({ status: 500 });
    const { redis, prefix, endpoint } = opened;
    await emit();
    await deliverDue();
    const [waiting] = await list();
    await redis.hset(`${prefix}webhook-delivery:${waiting?.id}`, 'since', Date.now() - dayMs);
    await makeDue(endpoint.id);
    expect(await deliverDue()).toEqual(['dead']);
    const dead = await list('dead');
    expect(dead).toMatchObject([{ attempts: 2, lastError: 'it answered 500' }]);
    expect(await deliverDue()).toEqual([]);
    receiver.answerWith(204);
    expect(await deliveries.repeat(endpoint.id)).toBe(1);
    expect(await deliverDue()).toEqual(['delivered']);
    const [first, , third] = receiver.messages.map(({ body, headers }) => [body, headers['webhook-id']]);
    expect(third).toEqual(first);
    // A delivered message can be sent again by its id, but not through another endpoint.
    const { endpoint: other } = await add(receiver.url);
    expect(await deliveries.repeat(other.id, [dead[0]?.id ?? ''])).toBe(0);
    expect(await deliveries.repeat(endpoint.id, [dead[0]?.id ?? '', 'wh_unknown'])).toBe(1);
    expect(await deliverDue()).toEqual(['delivered']);
  });

  it('that is answered 410 disables its endpoint: waiting deliveries are given up, and no further ones are sent', async () => {
    const { receiver, emit, list, endpoints, deliveries, deliverDue, deliver, endpoint } = await open({ status: 410 });
    for (let count = 0; count < 2; count += 1) await emit();
    for (const each of await deliveries.takeDue(10)) await deliver(each, never);
    expect([receiver.messages.length, (await list('dead')).length]).toEqual([1, 2]);
    const disabledReason = 'it answered 410: it wants no further events';
    expect(await endpoints.find(endpoint.id)).toMatchObject({ disabledAt: expect.any(Number), disabledReason });
    expect(await emit()).toBe(0);
    expect(await deliveries.repeat(endpoint.id)).toBe('disabled');
    await endpoints.change(endpoint.id, { enabled: true });
    receiver.answerWith(204);
    expect(await deliveries.repeat(endpoint.id)).toBe(2);
    expect(await deliverDue()).toEqual(['delivered', 'delivered']);
    expect((await endpoints.find(endpoint.id))?.disabledReason).toBeUndefined();
  });

  it.each([
    { what: 'is silent', options: { timeoutMs: 200 }, error: 'it took too long' },
    { what: 'redirects', options: {}, error: 'it answered with a redirect (302), which is not followed' },
    { what: 'is no public address', options: { isAllowed: undefined }, error: 'its address is not public' },
  ])('to a receiver that $what fails with that reason', async ({ what, options, error }) => {
    const { receiver, emit, list, deliverDue } = await open(options);
    if (what === 'is silent') receiver.answer(() => undefined);
    if (what === 'redirects') receiver.answer((response) => response.writeHead(302, { location: '/' }).end());
    await emit();
    expect(await deliverDue()).toEqual(['failed']);
    expect(await list()).toMatchObject([{ state: 'pending', lastError: error }]);
    if (what === 'is no public address') expect(receiver.messages).toEqual([]);
  });

  it('is returned when its runner stops, and is due when the job of that runner is over', async () => {
    const { receiver, emit, deliveries, deliver, outcomes, deliverDue, endpoint } = await open();
    receiver.answer(() => undefined);
    await emit();
    const [due] = await deliveries.takeDue(1);
    const stop = new AbortController();
    const delivering = due && deliver(due, stop.signal);
    await until(() => receiver.messages.length === 1);
    stop.abort();
    await delivering;
    expect(outcomes).toEqual(['returned']);
    const returned = await deliveries.find(endpoint.id, due?.id ?? '');
    expect(returned).toMatchObject({ state: 'pending', attempts: 0 });
    // A job with the same id would not be added while the job of this runner runs.
    expect((returned?.nextAt ?? 0) - (returned?.createdAt ?? 0)).toBeGreaterThanOrEqual(1_000);
    receiver.answerWith(204);
    await until(async () => (await deliverDue()).includes('delivered'));
  });

  it('for a test has one try', async () => {
    const { receiver, outbox, deliveries, deliverDue, endpoint, secret } = await open({ status: 500 });
    const id = await outbox.sendTestEvent(endpoint.id);
    expect(await deliverDue()).toEqual(['dead']);
    expect(await deliveries.find(endpoint.id, id ?? '')).toMatchObject({ state: 'dead', type: 'rtr.webhook.test' });
    const [message] = receiver.messages;
    const received = await client.webhooks.unwrap(message?.body ?? '', message?.headers ?? {}, secret);
    expect(received).toMatchObject({ type: 'rtr.webhook.test', data: { endpoint: endpoint.id } });
    expect(await outbox.sendTestEvent('000000000000')).toBeUndefined();
  });

  it('of a runner without the secret of the cluster fails with that reason, and its endpoint stays as it is', async () => {
    const { emit, list, deliveries, redis, prefix, endpoint } = await open();
    await emit();
    const other = openWebhooks(redis, prefix, { keys: new OwnerKeys(() => [Buffer.alloc(32)]) });
    const how = { post: async () => 204, count: () => undefined, log: silentLog };
    const deliver = createWebhookDeliverer({ ...other, ...how });
    for (const due of await deliveries.takeDue(1)) await deliver(due, never);
    const lastError = 'its secret was sealed with a SEAL_SECRET that the runner does not have';
    expect(await list()).toMatchObject([{ state: 'pending', lastError }]);
    expect((await other.endpoints.find(endpoint.id))?.disabledAt).toBeUndefined();
  });
});
