import { describe, expect, it } from 'vitest';
import { createEventId } from '#shared/accounts/webhooks/webhook-outbox.ts';
import { openHouse, openTeam } from '../../../helpers/console/open-console.ts';
import { denied, notFound, refusal } from '../../../helpers/console/refusals.ts';

const settings = { url: 'https://hooks.example.com/in?token=t0p', events: ['batch.*'], description: 'nightly' };

describe('a webhook', () => {
  it('is made, changed, rotated and removed by its person; its secret is shown when it is made', async () => {
    const { bob, apiLog, accounts } = await openTeam();
    const { status, body } = await bob.post('/webhooks', { kind: 'user', ...settings });
    expect(status).toBe(201);
    const whose = { kind: 'user', owner: { id: bob.id, name: 'bob' }, createdBy: 'bob' };
    const made = { id: expect.any(String), enabled: true, createdAt: expect.any(Number) };
    expect(body).toEqual({ secret: expect.stringMatching(/^whsec_/), webhook: { ...settings, ...whose, ...made } });
    const path = `/webhooks/${body.webhook.id}`;
    expect((await bob.get('/webhooks')).body).toEqual([body.webhook]);
    const changed = await bob.patch(path, { url: 'https://other.example.com/', enabled: false, description: '' });
    const { description: _, ...others } = body.webhook;
    expect(changed.body).toEqual({ ...others, url: 'https://other.example.com/', enabled: false });
    const rotated = await bob.post(`${path}/rotate`, { overlapMs: 60_000 });
    expect(rotated).toMatchObject({ status: 201, body: { webhook: changed.body } });
    expect(rotated.body.secret).not.toBe(body.secret);
    expect((await bob.delete(path)).status).toBe(204);
    expect((await bob.get('/webhooks')).body).toEqual([]);
    const { entries: notes } = await accounts.audit.list({ action: 'webhook.*' });
    const actions = ['webhook.remove', 'webhook.rotate', 'webhook.change', 'webhook.create'];
    expect(notes.map(({ action }) => action)).toEqual(actions);
    const before = { host: new URL(settings.url).host, enabled: true };
    const after = { host: 'other.example.com', enabled: false };
    expect(notes[2]?.details).toEqual({ changed: ['url', 'description', 'enabled'], before, after });
    // Neither a secret nor an address beyond its host is written down.
    expect(JSON.stringify([notes, apiLog])).not.toMatch(/whsec_|t0p/);
  });

  it('is hidden from others; owners of its team manage it, and administrators see all', async () => {
    const { ada, bob, eve, teamId } = await openTeam();
    const { body: mine } = await bob.post('/webhooks', { kind: 'user', ...settings });
    const { body: ours } = await bob.post('/webhooks', { kind: 'team', teamId, ...settings });
    const { body: router } = await ada.post('/webhooks', { kind: 'router', ...settings });
    for (const id of [mine.webhook.id, ours.webhook.id, router.webhook.id, '000000000000']) {
      const answer = id === ours.webhook.id ? denied : notFound;
      const path = `/webhooks/${id}`;
      expect(await eve.patch(path, { enabled: false })).toMatchObject(answer);
      expect(await eve.get(`${path}/deliveries`)).toMatchObject(answer);
      expect(await eve.post(`${path}/rotate`, { overlapMs: 0 })).toMatchObject(answer);
      for (const action of ['test', 'repeat']) expect(await eve.post(`${path}/${action}`)).toMatchObject(answer);
      expect(await eve.delete(path)).toMatchObject(answer);
    }
    expect((await eve.get('/webhooks')).body).toEqual([]);
    for (const owner of [{ kind: 'router' }, { kind: 'team', teamId }])
      expect(await eve.post('/webhooks', { ...owner, ...settings })).toMatchObject(denied);
    expect((await bob.get('/webhooks')).body).toEqual([mine.webhook, ours.webhook]);
    expect((await ada.get('/webhooks')).body).toEqual([mine.webhook, ours.webhook, router.webhook]);
    expect(ours.webhook.owner).toEqual({ id: teamId, name: 'Blue' });
    await ada.delete(`/teams/${teamId}`);
    expect((await ada.get('/webhooks')).body).toEqual([mine.webhook, router.webhook]);
  });

  it('is refused with an invalid setting, and the refusal names the field', async () => {
    const { ada } = await openHouse();
    const long = `https://example.com/${'x'.repeat(2_048)}`;
    const urls = ['ftp://example.com/', 'https://ada:pw@example.com/', 'https://example.com/#part', 'example.com'];
    const others = [{ events: [] }, { events: ['batch.done'] }, { description: 'two\nlines' }, { secret: 'whsec_own' }];
    for (const wrong of [...[...urls, long].map((url) => ({ url })), ...others]) {
      const { status, body } = await ada.post('/webhooks', { kind: 'user', ...settings, ...wrong });
      expect([status, String(body.error.field).split('.')[0]]).toEqual([400, Object.keys(wrong)[0]]);
    }
  });
});

it('the deliveries of a webhook are listed by state, and repeated', async () => {
  const { ada, webhooks } = await openTeam();
  const { body } = await ada.post('/webhooks', { kind: 'router', ...settings });
  const path = `/webhooks/${body.webhook.id}`;
  const event = { id: createEventId(), type: 'batch.failed', owners: ['router'], data: { id: 'batch_1' } } as const;
  await webhooks.outbox.emit(event);
  const [due] = await webhooks.deliveries.takeDue(1);
  if (due)
    await webhooks.deliveries.end(due, { state: 'dead', counts: true, status: 500, error: 'it answered 500', ms: 7 });
  const { status, body: test } = await ada.post(`${path}/test`);
  expect(status).toBe(202);
  expect(test).toMatchObject({ state: 'pending', event: { type: 'rtr.webhook.test' }, attempts: 0 });
  const { body: dead } = await ada.get(`${path}/deliveries?state=dead`);
  const last = { at: expect.any(Number), ms: 7, status: 500, error: 'it answered 500' };
  const facts = { id: due?.id, event: { id: event.id, type: 'batch.failed' }, state: 'dead', attempts: 1, last };
  expect(dead).toEqual([{ ...facts, createdAt: expect.any(Number), endedAt: expect.any(Number) }]);
  expect((await ada.get(`${path}/deliveries?limit=1`)).body).toEqual([test]);
  expect((await ada.get(`${path}/deliveries?state=lost`)).status).toBe(400);
  expect(await ada.post(`${path}/repeat`, { deliveries: [due?.id] })).toMatchObject({ body: { repeated: 1 } });
  expect((await ada.get(`${path}/deliveries?state=pending`)).body).toHaveLength(2);
  await ada.patch(path, { enabled: false });
  expect(await ada.post(`${path}/repeat`)).toMatchObject(refusal(409, 'webhook_disabled'));
});
