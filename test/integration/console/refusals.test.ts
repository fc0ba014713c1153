import { request } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { checksumLength, keyChecksum } from '#shared/accounts/keys/key-format.ts';
import { generateKey } from '#shared/accounts/keys/generate-key.ts';
import type { RefusalReport } from '#services/console/contract/refusals.ts';
import { startScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import { ConsoleClient } from '../../helpers/console/console-client.ts';
import { firstAdministrator } from '../../helpers/console/first-administrator.ts';
import { listenLive } from '../../helpers/console/listen-live.ts';
import { inviteToConsole } from '../../helpers/console/open-as.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

const secret = 'zebra-diary-7f3';

let admin: ConsoleClient;
let bob: ConsoleClient;
let carol: ConsoleClient;
let started = 0;

const cluster = useStarted(() => startScriptedCluster({ ingress: { MAX_QUEUED: '1' } }), 60_000);
beforeAll(async () => {
  await cluster.addScripted({ slots: 1 }, (event) => {
    if (event === 'started') started += 1;
  });
  ({ client: admin } = await firstAdministrator(cluster));
  [bob, carol] = [await join('Bob'), await join('Carol')];
}, 60_000);

async function join(name: string): Promise<ConsoleClient> {
  return (await inviteToConsole({ client: admin }, name)).client;
}

async function makeKey(client: ConsoleClient, wanted: object): Promise<{ id: string; raw: string }> {
  const { status, body } = await client.post('/keys', { kind: 'user', name: 'laptop', ...wanted });
  if (status !== 201) throw new Error(`no key: ${JSON.stringify(body)}`);
  return { id: String(body.key.id), raw: String(body.raw) };
}

async function ask(key: string): Promise<number> {
  const answer = await cluster.post([{ write: '{}' }], {}, { headers: { authorization: `Bearer ${key}` } });
  await answer.text();
  return answer.status;
}

/** Returns the same key with another secret. */
function forged(raw: string): string {
  const unchecked = raw.slice(0, -40) + '1'.repeat(40 - checksumLength);
  return unchecked + keyChecksum(unchecked);
}

async function read(client: ConsoleClient, more = ''): Promise<RefusalReport> {
  const range = `from=${Date.now() - 3_600_000}&to=${Date.now() + 60_000}`;
  const { status, body } = await client.get(`/usage/refusals?${range}${more}`);
  expect(status).toBe(200);
  return body as RefusalReport;
}

function counts({ groups }: RefusalReport): Record<string, number> {
  return Object.fromEntries(groups.map(({ id, count }) => [id, count]));
}

describe('refused requests', () => {
  it('appear by reason, to administrators all and to members their own, and do not count as requests', async () => {
    const page = await listenLive(admin);
    const ofMember = await listenLive(bob);
    const limited = await makeKey(bob, { limits: { requestsPerMinute: 1 } });
    const narrow = await makeKey(bob, { name: 'narrow', models: ['other'] });
    expect(await ask(limited.raw)).toBe(200);
    expect(await ask(limited.raw)).toBe(429);
    expect(await ask(narrow.raw)).toBe(403);
    expect(await ask(forged(narrow.raw))).toBe(401);
    expect(await ask(generateKey('user').raw)).toBe(401);
    expect(await ask('nonsense')).toBe(401);
    const bad = await cluster.postRaw(`{"model": "demo", "messages": "${secret}"}`);
    expect(bad.status).toBe(400);

    await until(async () => (await read(admin)).total === 6, 10_000);
    expect(counts(await read(admin))).toEqual({
      invalid_api_key: 3,
      rate_limit_exceeded: 1,
      permission_denied: 1,
      invalid_request: 1,
    });
    const byKey = (await read(admin, '&by=key')).groups.map(({ id, count }) => [id, count]);
    expect(Object.fromEntries(byKey)).toEqual({ [narrow.id]: 2, [limited.id]: 1, [cluster.keyId]: 1, '': 2 });
    const own = await read(bob);
    expect(counts(own)).toEqual({ invalid_api_key: 1, rate_limit_exceeded: 1, permission_denied: 1 });
    const owner = { kind: 'user', name: 'Bob' };
    expect(own.samples.find(({ code }) => code === 'permission_denied')).toMatchObject({
      status: 403,
      key: { id: narrow.id, name: 'narrow' },
      owner,
      model: 'demo',
    });
    expect(own.samples.find(({ code }) => code === 'rate_limit_exceeded')?.message).toContain('1 requests a minute');
    expect(await read(carol)).toMatchObject({ total: 0, groups: [], samples: [] });
    for (const text of [await read(admin), await read(admin, '&by=key')].map((each) => JSON.stringify(each)))
      expect(text).not.toContain(secret);

    await until(async () => (await admin.get('/usage/requests')).body.requests.length > 0);
    expect((await admin.get('/usage/requests')).body.requests).toHaveLength(1);
    // News arrive once a second, and the last ones may cover only some of the refusals.
    await until(() => {
      expect(page.news.refused?.map(({ code }) => code)).toContain('permission_denied');
      expect(page.news.refused).toContainEqual({ code: 'invalid_api_key', minute: 3, hour: 3 });
    });
    expect(ofMember.news.refused).toEqual([]);
  });

  it('are kept without their content, wherever it is', async () => {
    const { id, raw } = await makeKey(bob, { name: 'indiscreet' });
    const authorization = `Bearer ${raw}`;
    const hello = [{ role: 'user', content: secret }];
    const bodies = [
      `{"model": "demo", "messages": ["${secret}"`,
      JSON.stringify({ model: 'demo', messages: hello, max_tokens: secret }),
      JSON.stringify({ model: 'demo', messages: [{ role: secret, content: 'Hello.' }] }),
      JSON.stringify({ model: 'demo', messages: hello, tool_choice: { type: 'function', function: { name: secret } } }),
      JSON.stringify({ model: `Say ${secret}, please`, messages: hello }),
      JSON.stringify({ messages: hello, [secret]: 1 }),
    ];
    const statuses = await Promise.all(
      bodies.map(async (body) => (await cluster.postRaw(body, { headers: { authorization } })).status),
    );
    expect(statuses.map((status) => Math.floor(status / 100))).toEqual(bodies.map(() => 4));
    const headers = { authorization, 'content-type': 'application/json' };
    const encoded = { ...headers, 'content-encoding': secret, 'x-rtr-max-wait': secret };
    for (const [path, sent] of [
      [`/api/openai/v1/${secret}`, headers],
      [`/api/openai/v1/models/${secret}`, headers],
      ['/api/openai/v1/chat/completions', encoded],
      ['/api/tools/v1/execute', headers],
    ] as const) {
      const body = JSON.stringify({ tool: `call ${secret}`, input: { secret } });
      await fetch(`${cluster.url}${path}`, { method: 'POST', headers: sent, body });
    }
    await until(async () => (await read(bob, `&key=${id}`)).total === 10, 10_000);
    const report = await read(bob, `&key=${id}`);
    expect(report.samples.length).toBeGreaterThan(4);
    expect(JSON.stringify(report)).not.toContain('zebra');
  });

  it('include those that find the queue full, with their keys', async () => {
    const { id, raw } = await makeKey(carol, { name: 'flood' });
    const before = started;
    const gone = new AbortController();
    const statuses: number[] = [];
    const hang = async (): Promise<void> => {
      const init = { headers: { authorization: `Bearer ${raw}` }, signal: gone.signal };
      const answer = await cluster.post([{ hang: true }], {}, init).catch(() => undefined);
      if (answer) statuses.push(answer.status);
    };
    const all = [hang()];
    await until(() => started > before);
    // One request waits, further ones find no room.
    while (statuses.length === 0 && all.length < 10) {
      all.push(hang());
      await until(() => statuses.length > 0, 500).catch(() => undefined);
    }
    expect(statuses).toEqual([503]);
    gone.abort();
    await Promise.all(all);
    await until(async () => (await read(carol)).total > 0, 10_000);
    expect((await read(carol)).groups).toMatchObject([{ id: 'overloaded', rows: [{ key: { id, name: 'flood' } }] }]);
    const { requests } = (await carol.get('/usage/requests')).body;
    expect(JSON.stringify(requests)).not.toContain('overloaded');
  });

  it('include calls of tools over MCP, which end no HTTP request with an error', async () => {
    const { id, raw } = await makeKey(bob, { name: 'agent' });
    const answer = await post({
      url: cluster.url,
      key: raw,
      path: '/tools/mcp',
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'nonesuch', arguments: {} },
      },
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('Unknown tool: nonesuch')]);
    await until(async () => (await read(bob, `&key=${id}`)).total === 1, 10_000);
    const { samples } = await read(bob, `&key=${id}`);
    expect(samples).toMatchObject([{ code: 'not_found', key: { name: 'agent' }, model: 'nonesuch' }]);
  });

  it('exclude a client that is sent from WebSockets to HTTP', async () => {
    const before = (await read(admin)).total;
    const headers = { connection: 'upgrade', upgrade: 'websocket', authorization: `Bearer ${cluster.key}` };
    const status = await new Promise((resolve, reject) => {
      const asked = request(`${cluster.url}/api/openai/v1/responses`, { headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      });
      asked.on('error', reject).end();
    });
    expect(status).toBe(426);
    expect(await ask('nonsense')).toBe(401);
    await until(async () => (await read(admin)).total > before, 10_000);
    expect(counts(await read(admin))).not.toHaveProperty('upgrade_refused');
  });

  it('with random keys take one row, however many there are', { timeout: 60_000 }, async () => {
    const before = counts(await read(admin))['invalid_api_key'] ?? 0;
    const most = 300;
    for (let sent = 0; sent < most; sent += 50)
      await Promise.all(Array.from({ length: 50 }, () => ask(generateKey('user').raw)));
    await until(async () => counts(await read(admin))['invalid_api_key'] === before + most, 10_000);
    const { groups } = await read(admin, '&by=key&code=invalid_api_key');
    expect(groups.map(({ id }) => id)).toHaveLength(2);
  });
});
