import { beforeAll, describe, expect, it } from 'vitest';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { openRaw } from '../../helpers/clients/raw-http.ts';
import { checksumLength, computeKeyChecksum } from '#shared/accounts/keys/key-format.ts';
import { generateKey } from '#shared/accounts/keys/generate-key.ts';
import type { RefusalReport } from '#services/console/contract/refusals.ts';
import { metricOf } from '../../helpers/cluster/worker-admin.ts';
import { startScriptedCluster } from '../../helpers/cluster/start-scripted-cluster.ts';
import type { ConsoleClient } from '../../helpers/console/console-client.ts';
import { firstAdministrator } from '../../helpers/console/first-administrator.ts';
import { listenLive } from '../../helpers/console/listen-live.ts';
import { makeKey } from '../../helpers/console/make-key.ts';
import { inviteToConsole } from '../../helpers/console/open-as.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

const secret = 'zebra-diary-7f3';

let admin: ConsoleClient;
let bob: ConsoleClient;
let carol: ConsoleClient;
let started = 0;

const cluster = useStarted(() => startScriptedCluster({ ingress: { MAX_QUEUED: '1' } }));
beforeAll(async () => {
  await cluster.addScripted({ slots: 1 }, (event) => {
    if (event === 'started') started += 1;
  });
  ({ client: admin } = await firstAdministrator(cluster));
  [bob, carol] = [await join('Bob'), await join('Carol')];
});

const join = async (name: string) => (await inviteToConsole({ client: admin }, name)).client;

async function ask(key: string): Promise<number> {
  const answer = await cluster.post([{ write: '{}' }], {}, { headers: { authorization: `Bearer ${key}` } });
  await answer.text();
  return answer.status;
}

/** Returns the same key with another secret. */
function forged(raw: string): string {
  const unchecked = raw.slice(0, -40) + '1'.repeat(40 - checksumLength);
  return unchecked + computeKeyChecksum(unchecked);
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
    expect(await ask(generateKey('user').rawKey)).toBe(401);
    expect(await ask('nonsense')).toBe(401);
    const bad = await cluster.postRaw(`{"model": "demo", "messages": "${secret}"}`);
    expect(bad.status).toBe(400);

    await until(async () => (await read(admin)).total === 6);
    const once = { rate_limit_exceeded: 1, permission_denied: 1 };
    expect(counts(await read(admin))).toEqual({ invalid_api_key: 3, ...once, invalid_request: 1 });
    const byKey = counts(await read(admin, '&by=key'));
    expect(byKey).toEqual({ [narrow.id]: 2, [limited.id]: 1, [cluster.keyId]: 1, '': 2 });
    const own = await read(bob);
    expect(counts(own)).toEqual({ invalid_api_key: 1, ...once });
    const of = { key: { id: narrow.id, name: 'narrow' }, owner: { kind: 'user', name: 'Bob' }, model: 'demo' };
    expect(own.samples.find(({ code }) => code === 'permission_denied')).toMatchObject({ status: 403, ...of });
    expect(own.samples.find(({ code }) => code === 'rate_limit_exceeded')?.message).toContain('1 requests a minute');
    expect(await read(carol)).toMatchObject({ total: 0, groups: [], samples: [] });
    for (const text of [await read(admin), await read(admin, '&by=key')].map((each) => JSON.stringify(each)))
      expect(text).not.toContain(secret);

    await until(async () => expect((await admin.get('/usage/requests')).body.requests).toHaveLength(1));
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
    await until(async () => (await read(bob, `&key=${id}`)).total === 10);
    const report = await read(bob, `&key=${id}`);
    expect(report.samples.length).toBeGreaterThan(4);
    expect(JSON.stringify(report)).not.toContain('zebra');
  });

  it('include those that find the queue full, with their keys', async () => {
    const { id, raw } = await makeKey(carol, { name: 'flood' });
    const before = started;
    const gone = new AbortController();
    const init = { headers: { authorization: `Bearer ${raw}` }, signal: gone.signal };
    const hang = () => cluster.post([{ hang: true }], {}, init).catch(() => undefined);
    const all = [hang()];
    await until(() => started > before);
    // One request waits, further ones find no room.
    all.push(hang());
    await until(async () => (await metricOf(cluster.adminUrl, 'rtr_queue_waiting{tier="gpu"}')) === 1);
    expect((await hang())?.status).toBe(503);
    gone.abort();
    await Promise.all(all);
    await until(async () => (await read(carol)).total > 0);
    expect((await read(carol)).groups).toMatchObject([{ id: 'overloaded', rows: [{ key: { id, name: 'flood' } }] }]);
    const { requests } = (await carol.get('/usage/requests')).body;
    expect(JSON.stringify(requests)).not.toContain('overloaded');
  });

  it('include calls of tools over MCP, which end no HTTP request with an error', async () => {
    const { id, raw } = await makeKey(bob, { name: 'agent' });
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'nonesuch', arguments: {} } };
    const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' };
    const answer = await post({ url: cluster.url, key: raw, path: '/tools/mcp', body, headers });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining('Unknown tool: nonesuch')]);
    await until(async () => (await read(bob, `&key=${id}`)).total === 1);
    const { samples } = await read(bob, `&key=${id}`);
    expect(samples).toMatchObject([{ code: 'not_found', key: { name: 'agent' }, model: 'nonesuch' }]);
  });

  it('exclude a client that is sent from WebSockets to HTTP', async () => {
    const before = (await read(admin)).total;
    const { socket, text, closed } = await openRaw(cluster.url);
    const head = ['GET /api/openai/v1/responses HTTP/1.1', 'host: x', `authorization: Bearer ${cluster.key}`];
    socket.write([...head, 'connection: upgrade', 'upgrade: websocket', '\r\n'].join('\r\n'));
    await until(() => text().startsWith('HTTP/1.1 426 '));
    socket.destroy();
    await closed;
    expect(await ask('nonsense')).toBe(401);
    await until(async () => (await read(admin)).total > before);
    expect(counts(await read(admin))).not.toHaveProperty('upgrade_refused');
  });

  it('with random keys take one row, however many there are', { timeout: 60_000 }, async () => {
    const before = counts(await read(admin))['invalid_api_key'] ?? 0;
    const most = 300;
    for (let sent = 0; sent < most; sent += 50)
      await Promise.all(Array.from({ length: 50 }, () => ask(generateKey('user').rawKey)));
    await until(async () => counts(await read(admin))['invalid_api_key'] === before + most);
    const { groups } = await read(admin, '&by=key&code=invalid_api_key');
    expect(groups.map(({ id }) => id)).toHaveLength(2);
  });
});
