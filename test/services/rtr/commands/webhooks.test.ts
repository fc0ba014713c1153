import { beforeEach, describe, expect, it } from 'vitest';
import { listDeliveries, repeatDeliveries, testWebhook } from '#services/rtr/commands/webhooks/deliveries.ts';
import type { WebhookContext } from '#services/rtr/commands/webhooks/webhook-context.ts';
import {
  addWebhook,
  listWebhooks,
  removeWebhook,
  rotateWebhook,
  setWebhook,
} from '#services/rtr/commands/webhooks/webhooks.ts';
import { makeAdmin } from '../../../helpers/accounts/open-key-store.ts';
import { openTestWebhooks, type TestWebhooks } from '../../../helpers/webhooks/open-test-webhooks.ts';
import { startReceiver } from '../../../helpers/webhooks/start-receiver.ts';
import { until } from '../../../helpers/until.ts';

const url = 'https://hooks.example.com/in';
const unknown = '000000000000';

let open: TestWebhooks;
let lines: string[];
let context: WebhookContext;

beforeEach(async () => {
  open = await openTestWebhooks();
  lines = [];
  context = { accounts: open.accounts, webhooks: open, print: (line) => lines.push(line), json: false };
});

describe('rtr webhooks add', () => {
  it('makes a webhook of the router, a team or a person, and shows its secret once', async () => {
    const ada = await makeAdmin(open);
    const team = await open.accounts.teams.create('Blue');
    const { endpoint, secret } = await addWebhook(context, { url, events: 'batch.*, response.failed' });
    expect(lines).toEqual([`Webhook ${endpoint.id}, with the secret shown only this once: ${secret}`]);
    await addWebhook(context, { url, events: 'batch.*', team: 'Blue' });
    await addWebhook(
      { ...context, json: true },
      { url, events: 'batch.*', user: 'ADA@example.com', description: 'mine' },
    );
    expect(JSON.parse(lines[2] ?? '')).toMatchObject({
      owner: `user:${ada.id}`,
      url,
      events: ['batch.*'],
      description: 'mine',
      state: 'enabled',
      secret: expect.stringMatching(/^whsec_/),
    });
    const made = await open.endpoints.list();
    expect(made.map(({ owner }) => owner)).toEqual(['router', `team:${team.id}`, `user:${ada.id}`]);
    lines.length = 0;
    await listWebhooks(context);
    expect(lines.map((line) => line.split(/ {2,}/)[1])).toEqual(['OWNER', 'router', 'team Blue', 'ada@example.com']);
    expect(made[0]?.events).toEqual(['batch.*', 'response.failed']);
    const [note] = (await open.accounts.audit.list()).entries;
    expect(note).toMatchObject({ actor: null, action: 'webhook.create', target: { name: 'hooks.example.com' } });
  });

  it('names the events that there are not, and those that there are', async () => {
    const adding = addWebhook(context, { url, events: 'batch.*, nope.*,batch.done' });
    await expect(adding).rejects.toThrow(
      /^No such event: "nope\.\*", "batch\.done"\. There are batch\.completed, .*, response\.failed, .*, batch\.\*, .*rtr\.usage\.\*\.$/,
    );
  });

  it.each([
    { given: { url: 'nowhere', events: 'batch.*' }, code: 'invalid_request', param: 'url' },
    { given: { url, events: 'batch.done' }, code: 'invalid_request', param: 'events' },
    { given: { url, events: 'batch.*', team: 'Red' }, code: 'not_found' },
    { given: { url, events: 'batch.*', user: 'eve@example.com' }, code: 'not_found' },
    { given: { url, events: 'batch.*', team: 'Red', user: 'eve@example.com' }, code: 'invalid_request' },
  ])('refuses $given', async ({ given, ...error }) => {
    await expect(addWebhook(context, given)).rejects.toMatchObject(error);
    expect(await open.endpoints.list()).toEqual([]);
  });
});

describe('rtr webhooks', () => {
  it('lists, disables, enables, rotates and removes', async () => {
    await listWebhooks(context);
    expect(lines).toEqual(['There are no webhooks yet. Make one with: rtr webhooks add <url> --events <events>']);
    const { endpoint } = await open.add(url);
    await setWebhook(context, endpoint.id, false);
    lines.length = 0;
    await listWebhooks(context);
    expect(lines[1]).toMatch(
      new RegExp(`^${endpoint.id}  router  \\d{4}-\\d\\d-\\d\\d  disabled  batch\\.\\*  ${url}$`),
    );
    await setWebhook(context, endpoint.id, true);
    await rotateWebhook(context, endpoint.id, 1);
    expect(lines.at(-1)).toMatch(new RegExp(`^The new secret of webhook ${endpoint.id}, shown only this once: whsec_`));
    await rotateWebhook({ ...context, json: true }, endpoint.id, 1);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      id: endpoint.id,
      state: 'enabled',
      secret: expect.stringMatching(/^whsec_/),
    });
    await removeWebhook(context, endpoint.id);
    expect(await open.endpoints.list()).toEqual([]);
    for (const command of [removeWebhook, testWebhook, (c: WebhookContext, id: string) => rotateWebhook(c, id, 0)])
      await expect(command(context, unknown)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('rtr webhooks test', () => {
  it('prints what the receiver answered, and fails when it did not accept the event', async () => {
    const receiver = await startReceiver();
    const { endpoint } = await open.add(receiver.url);
    const trying = testWebhook(context, endpoint.id);
    await until(async () => (await open.deliverDue()).length > 0);
    await trying;
    expect(lines[0]).toMatch(/^Delivered in \d+ ms: the receiver answered 204\.$/);
    receiver.answer((response) => response.writeHead(404).end());
    const failing = expect(testWebhook(context, endpoint.id)).rejects.toThrow('Not delivered: it answered 404.');
    await until(async () => (await open.deliverDue()).length > 0);
    await failing;
    await expect(testWebhook(context, endpoint.id, 300)).rejects.toThrow('No batch runner has tried it yet.');
  });
});

describe('rtr webhooks deliveries and repeat', () => {
  it('list what was sent, and send it again', async () => {
    const receiver = await startReceiver();
    const { endpoint } = await open.add(receiver.url);
    await listDeliveries(context, endpoint.id, { limit: 50 });
    expect(lines).toEqual(['There are no deliveries.']);
    receiver.answer((response) => response.writeHead(410).end());
    await open.outbox.emit(open.batchEvent());
    await open.deliverDue();
    await listDeliveries({ ...context, json: true }, endpoint.id, { state: 'dead', limit: 50 });
    const dead = JSON.parse(lines[1] ?? '') as { id: string };
    expect(dead).toMatchObject({ webhook: endpoint.id, type: 'batch.completed', state: 'dead', lastStatus: 410 });
    await expect(repeatDeliveries(context, endpoint.id, [])).rejects.toThrow('Enable it first');
    await setWebhook(context, endpoint.id, true);
    await repeatDeliveries(context, endpoint.id, [dead.id]);
    expect(lines.at(-1)).toBe('One delivery is sent again.');
    receiver.answer((response) => response.writeHead(204).end());
    expect(await open.deliverDue()).toEqual(['delivered']);
  });
});
