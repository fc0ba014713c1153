import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { made } from '../../helpers/accounts/made.ts';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { AdminClient } from '#services/rtr/commands/admin/admin-client.ts';
import { testWebhook } from '#services/rtr/commands/admin/test-webhook.ts';
import { useScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { adminCommandsOf } from '../../helpers/rtr/admin-commands.ts';
import { until } from '../../helpers/until.ts';
import { openTestWebhooks, type TestWebhooks } from '../../helpers/webhooks/open-test-webhooks.ts';
import { startReceiver } from '../../helpers/webhooks/start-receiver.ts';
import { uniqueName } from '../../helpers/unique-name.ts';

const url = 'https://hooks.example.com/in';
const unknown = '000000000000';

const domain = `${uniqueName('webhooks')}.example`.toLowerCase();

let open: TestWebhooks;

const cluster = useScriptedCluster();
const rtr = adminCommandsOf(cluster);
beforeAll(async () => {
  await rtr('users', 'create', `ada@${domain}`, '--name', 'Ada');
  await rtr('teams', 'create', 'Blue');
});

beforeEach(async () => {
  open = await openTestWebhooks({ prefix: `${cluster.prefix}:` });
  for (const { id } of await open.endpoints.list()) await open.endpoints.delete(id);
});

describe('rtr webhooks add', () => {
  it('creates a webhook of the router, a team or a person, and shows its secret once', async () => {
    const [line] = await rtr('webhooks', 'add', url, '--events', 'batch.*, response.failed');
    expect(line).toMatch(/^Webhook \w+, with the secret shown only this once: whsec_\S+$/);
    await rtr('webhooks', 'add', url, '--events', 'batch.*', '--team', 'Blue');
    const words = ['--events', 'batch.*', '--user', `ADA@${domain}`, '--description', 'mine'];
    expect(await rtr.json('webhooks', 'add', url, ...words)).toMatchObject({
      webhook: {
        kind: 'user',
        owner: { name: 'Ada' },
        url,
        events: ['batch.*'],
        description: 'mine',
        enabled: true,
      },
      secret: expect.stringMatching(/^whsec_/),
    });
    const made = await open.endpoints.list();
    expect(made[0]?.events).toEqual(['batch.*', 'response.failed']);
    const lines = await rtr('webhooks', 'list');
    expect(lines.map((each) => each.split(/ {2,}/).slice(1, 3))).toEqual([
      ['OWNER', 'KIND'],
      ['-', 'router'],
      ['Blue', 'team'],
      ['Ada', 'user'],
    ]);
    const [note] = (await open.accounts.audit.list()).entries;
    expect(note).toMatchObject({ action: 'webhook.create', target: { name: 'hooks.example.com' } });
  });

  it.each([
    [['nowhere', '--events', 'batch.*'], /^url: /],
    [[url, '--events', 'batch.*, nope.*'], /^events: No such event: "nope\.\*"\. There are batch\.completed, /],
    [[url, '--events', 'batch.*', '--team', 'Red'], 'There is no team Red.'],
    [[url, '--events', 'batch.*', '--user', `eve@${domain}`], 'Nobody has an account with the address'],
    [[url, '--events', 'batch.*', '--team', 'Blue', '--user', `ada@${domain}`], 'Choose a team or a person, not both.'],
  ] as const)('refuses %j', async (words, message) => {
    await expect(async () => rtr('webhooks', 'add', ...words)).rejects.toThrow(message);
    expect(await open.endpoints.list()).toEqual([]);
  });

  it('lets a member create webhooks only for themselves', async () => {
    const { id: ownerId } = await rtr.json('users', 'create', `bob@${domain}`);
    const wanted = { name: 'bob', scopes: ['admin'], expiresAt: Date.now() + 60_000, ownerId } as const;
    const { raw: key } = made(await open.accounts.adminTokens.create(wanted));
    const { id: userId } = await rtr.json('users', 'show', `ada@${domain}`);
    const body = { kind: 'user', userId, url, events: ['batch.*'] };
    const answer = await post({ url: cluster.url, key, path: '/admin/v1/webhooks', body });
    expect(answer.status).toBe(404);
    expect(await open.endpoints.list()).toEqual([]);
  });
});

describe('rtr webhooks', () => {
  it('lists, disables, enables, rotates and removes', async () => {
    const nothing = 'There are no webhooks yet. Make one with: rtr webhooks add <url> --events <events>';
    expect(await rtr('webhooks', 'list')).toEqual([nothing]);
    const { endpoint } = await open.add(url);
    const { id } = endpoint;
    expect((await rtr('webhooks', 'set', id, '--no-enabled')).join('\n')).toMatch(/^enabled +no$/m);
    const listed = new RegExp(`^${id}  -  +router  \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d  no +batch\\.\\*  ${url}$`);
    expect((await rtr('webhooks', 'list'))[1]).toMatch(listed);
    expect(await rtr.json('webhooks', 'set', id, '--enabled')).toMatchObject({ id, enabled: true });
    const [line] = await rtr('webhooks', 'rotate', id, '--overlap', '1h');
    expect(line).toMatch(new RegExp(`^The new secret of webhook ${id}, shown only this once: whsec_`));
    await rtr('webhooks', 'remove', id);
    expect(await open.endpoints.list()).toEqual([]);
    for (const words of [['remove'], ['test'], ['rotate'], ['deliveries'], ['repeat'], ['set', '--enabled']])
      await expect(rtr('webhooks', words[0] ?? '', unknown, ...words.slice(1))).rejects.toThrow('This does not exist');
  });
});

describe('rtr webhooks test, deliveries and repeat', () => {
  it('print what the receiver answered, and fail when it did not accept the event', async () => {
    const receiver = await startReceiver();
    const { endpoint } = await open.add(receiver.url);
    const trying = rtr('webhooks', 'test', endpoint.id);
    await until(async () => (await open.deliverDue()).length > 0);
    expect((await trying)[0]).toMatch(/^Delivered in \d+ ms: the receiver answered 204\.$/);
    receiver.answer((response) => response.writeHead(404).end());
    const failing = expect(rtr('webhooks', 'test', endpoint.id)).rejects.toThrow('Not delivered: it answered 404.');
    await until(async () => (await open.deliverDue()).length > 0);
    await failing;
    // Without a runner, the command waits for the outcome for a bounded time.
    const { raw } = await rtr.json('tokens', 'create', '--name', 'waits', '--scopes', 'admin');
    const token = () => Promise.resolve(String(raw));
    const client = new AdminClient({ url: cluster.url, token, unknownTokenMessage: '' });
    const context = { client, print: () => undefined, json: false };
    await expect(testWebhook(context, endpoint.id, 300)).rejects.toThrow('No batch runner has tried it yet.');
  });

  it('list what was sent, and send it again', async () => {
    const receiver = await startReceiver();
    const { endpoint } = await open.add(receiver.url);
    expect(await rtr('webhooks', 'deliveries', endpoint.id)).toEqual(['There are no deliveries.']);
    receiver.answer((response) => response.writeHead(410).end());
    await open.outbox.emit(open.batchEvent());
    await open.deliverDue();
    const dead = await rtr.json('webhooks', 'deliveries', endpoint.id, '--state', 'dead');
    expect(dead).toMatchObject({ event: { type: 'batch.completed' }, state: 'dead', last: { status: 410 } });
    await expect(rtr('webhooks', 'repeat', endpoint.id)).rejects.toThrow('Enable this webhook first.');
    await rtr('webhooks', 'set', endpoint.id, '--enabled');
    expect(await rtr('webhooks', 'repeat', endpoint.id, dead.id)).toEqual(['Deliveries that are sent again: 1.']);
    receiver.answer((response) => response.writeHead(204).end());
    expect(await open.deliverDue()).toEqual(['delivered']);
  });
});
