import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageRecord, UsageViewer } from '#shared/accounts/ledger/usage-record.ts';
import type { LimitedParty } from '#shared/accounts/limits/limits.ts';
import { PriceTable } from '#shared/accounts/prices/price-table.ts';
import { RefusalReader } from '#shared/accounts/refusals/refusal-reader.ts';
import { createLog } from '#shared/core/log.ts';
import { usageOperations } from '#services/console/api/usage/usage-operations.ts';
import type { Price, UsageHours, UsageReport, UsageRequest } from '#services/console/contract/usage.ts';
import { keyWith, openLimitKeeper } from '../../../../helpers/accounts/open-limit-keeper.ts';
import { serveOperations } from '../../../../helpers/console/serve-operations.ts';

const log = createLog({ service: 'test', level: 'silent', format: 'json' });
const viewers: Record<string, UsageViewer> = {
  admin: { userId: 'boss', isAdmin: true, keyIds: [], teamIds: [] },
  ada: { userId: 'ada', isAdmin: false, keyIds: ['k1'], teamIds: ['t1'] },
};

function record(id: string, fields: Partial<UsageRecord> = {}): UsageRecord {
  return {
    id,
    at: Date.UTC(2026, 10, 21, 12),
    key: { id: 'k1', name: 'laptop' },
    owner: { kind: 'user', id: 'ada' },
    format: 'chat',
    operation: 'generate',
    asked: 'auto',
    model: 'm1',
    tier: 'gpu',
    worker: 'w1',
    outcome: 'done',
    attempts: 1,
    totalMs: 12.5,
    promptTokens: 10,
    cachedTokens: 0,
    completionTokens: 5,
    reasoningTokens: 0,
    cost: 1_500_000,
    ...fields,
  };
}

/** The routes on a server of their own, with some requests in the ledger. */
async function openApi(...records: UsageRecord[]) {
  const { keeper, redis, prefix, reserve } = await openLimitKeeper(inject('redisUrl'));
  const ledger = new UsageLedger(redis, prefix, log, { maxRequests: 1_000, requestsKeptMs: 1e12 });
  for (const each of records) ledger.add(each);
  await ledger.close();
  const prices = new PriceTable({ redis, prefix, log, registered: () => ({}), announce: async () => undefined });
  const audit: unknown[] = [];
  onTestFinished(() => prices.close());
  const url = await serveOperations(
    usageOperations({
      usage: new UsageReader(redis, prefix),
      refusals: new RefusalReader(redis, prefix),
      limits: keeper,
      prices,
      viewerOf: ({ id }) => viewers[id] ?? { userId: '', isAdmin: false, keyIds: [], teamIds: [] },
      namesOf: async () =>
        new Map<LimitedParty, string>([
          ['user:ada', '=Ada, "the" first'],
          ['team:t1', 'Research'],
        ]),
      limitedParties: async () => [{ ...keyWith({ tokensPerDay: 100, costPerMonth: 2.5 }), name: 'laptop' }],
      notePriceChange: async (_, model, change) => void audit.push({ model, ...change }),
    }),
    { viewers, log },
  );
  const get = (path: string, viewer = 'admin', init: RequestInit = {}): Promise<Response> =>
    fetch(`${url}${path}`, { ...init, headers: { 'x-viewer': viewer, 'content-type': 'application/json' } });
  return { get, audit, reserve };
}

const range = `from=${Date.UTC(2026, 10, 20)}&to=${Date.UTC(2026, 10, 22)}`;

describe('GET /usage', () => {
  it('answers totals in dollars, with the names of the groups', async () => {
    const team = { key: { id: 'k2', name: 'ci' }, owner: { kind: 'team' as const, id: 't1' } };
    const { get } = await openApi(
      record('a'),
      record('b', team),
      record('c', { key: { id: 'k3', name: 'root' }, owner: undefined }),
    );
    const report = (await (await get(`/usage?${range}&step=day&by=team`)).json()) as UsageReport;
    expect(report.times).toHaveLength(2);
    expect(report.totals).toMatchObject({ requests: 3, cost: 0.0045 });
    expect(report.groups.map(({ name, totals }) => [name, totals.requests])).toEqual([
      ['none', 2],
      ['Research', 1],
    ]);
    const own = (await (await get(`/usage?${range}&step=month&by=key`, 'ada')).json()) as UsageReport;
    expect(own.groups.map(({ name }) => name).toSorted()).toEqual(['ci', 'laptop']);
    const nobody = (await (await get(`/usage?${range}&step=month&by=key`, 'stranger')).json()) as UsageReport;
    expect(nobody.groups).toEqual([]);
  });

  it.each([
    [`/usage?${range}&step=week&by=key`, 'step'],
    [`/usage?${range}&step=day&by=worker`, 'by'],
    ['/usage?step=day&by=key', 'from'],
    ['/usage?from=5&to=4&step=day&by=key', 'to'],
    ['/usage?from=0&to=1764000000000&step=day&by=key', 'from'],
    [`/usage?${range}&step=day&by=key&model=a&model=b`, 'model'],
    ['/usage/requests?before=x', 'before'],
    ['/usage/requests?before=0-0', 'before'],
    ['/usage/requests?limit=1000', 'limit'],
    ['/usage/requests?after=x', 'after'],
    ['/usage/requests?from=yesterday', 'from'],
    ['/usage/overview?span=1y', 'span'],
    [`/usage/export?${range}&format=xml`, 'format'],
  ])('refuses %s and names the field', async (path, field) => {
    const { get } = await openApi();
    const answer = await get(path);
    expect(answer.status).toBe(400);
    const answered = (await answer.json()) as { error: { message: string } };
    expect(answered).toMatchObject({ error: { code: 'invalid_request', field } });
    expect(answered.error.message).not.toMatch(/NaN|undefined/);
  });
});

describe('GET /usage/requests', () => {
  it('answers single requests in pages', async () => {
    const { get } = await openApi(record('a'), record('b', { outcome: 'failed', code: 'overloaded' }), record('c'));
    const first = (await (await get('/usage/requests?limit=2')).json()) as { requests: UsageRequest[]; next: string };
    expect(first.requests).toMatchObject([
      { id: 'c', cost: 0.0015, owner: { kind: 'user', id: 'ada', name: '=Ada, "the" first' } },
      { id: 'b', outcome: 'failed', code: 'overloaded' },
    ]);
    const second = (await (await get(`/usage/requests?limit=2&before=${first.next}`)).json()) as typeof first;
    expect(second.requests.map(({ id }) => id)).toEqual(['a']);
    const failed = (await (await get('/usage/requests?outcome=failed')).json()) as typeof first;
    expect(failed.requests.map(({ id }) => id)).toEqual(['b']);
    const none = (await (await get('/usage/requests', 'stranger')).json()) as typeof first;
    expect(none).toEqual({ requests: [], newest: expect.any(String) });
  });
});

describe('GET /usage/hours', () => {
  const hours = `from=${Date.now() - 3_600_000}&to=${Date.now()}`;

  it('answers hours in dollars, with the names of the groups, of what the viewer may see', async () => {
    const { get } = await openApi(
      record('a', { at: Date.now(), cost: 2_000_000_000 }),
      record('b', { at: Date.now(), key: { id: 'k2', name: 'ci' }, owner: { kind: 'team', id: 't1' } }),
    );
    const read = async (query: string, viewer?: string) =>
      ((await (await get(`/usage/hours?${hours}&${query}`, viewer)).json()) as UsageHours).groups;
    const [first] = await read('by=user&user=ada');
    expect(first).toMatchObject({ id: 'ada', name: '=Ada, "the" first', totals: { requests: 1, cost: 2 } });
    expect(first?.steps.at(-1)).toMatchObject({ requests: 1, cost: 2 });
    expect((await read('by=key')).map(({ name }) => name).toSorted()).toEqual(['ci', 'laptop']);
    expect((await read('by=team')).map(({ name }) => name).toSorted()).toEqual(['Research', 'none']);
    expect(await read('by=model', 'eve')).toEqual([]);
  });

  it.each([
    'by=tier',
    'by=model&key=k1',
    `by=key&from=${Date.now() - 9 * 86_400_000}`,
    `by=key&from=${Date.now() + 3_600_000}`,
  ])('refuses what it cannot answer: %s', async (query) => {
    const { get } = await openApi();
    const asked = new URLSearchParams(hours);
    for (const [name, value] of new URLSearchParams(query)) asked.set(name, value);
    expect((await get(`/usage/hours?${asked.toString()}`)).status).toBe(400);
  });
});

describe('GET /usage/export', () => {
  it('streams all requests as JSON', async () => {
    const { get } = await openApi(...Array.from({ length: 450 }, (_, index) => record(`r${index}`)));
    const answer = await get(`/usage/export?${range}&format=json`);
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="usage.json"');
    const requests = (await answer.json()) as UsageRequest[];
    expect(requests.map(({ id }) => id)).toEqual(Array.from({ length: 450 }, (_, index) => `r${index}`));
    expect(await (await get(`/usage/export?${range}&format=json`, 'stranger')).json()).toEqual([]);
  });

  it('streams a table in which no text is read as a formula', async () => {
    const { get } = await openApi(record('a', { key: { id: 'k1', name: "@SUM(1+1)*cmd|' /C calc'!A0" } }));
    const answer = await get(`/usage/export?${range}&format=csv`);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [head, line, rest] = (await answer.text()).split('\r\n');
    expect(head).toContain('id,at,key_id,key_name,owner_kind');
    expect(line).toBe(
      `a,2026-11-21T12:00:00.000Z,k1,'@SUM(1+1)*cmd|' /C calc'!A0,user,ada,"'=Ada, ""the"" first",` +
        'chat,generate,auto,m1,gpu,w1,done,,1,,,12.5,10,0,5,0,0.0015,,,,,,,',
    );
    expect(rest).toBe('');
  });
});

describe('GET /usage/now', () => {
  it('answers the use of each limit, reservations included', async () => {
    const { get, reserve } = await openApi();
    (await reserve([keyWith({ tokensPerDay: 100 })], { tokens: 30, cost: 5e8 })).commit({ tokens: 20, cost: 4e8 });
    await reserve([keyWith({ tokensPerDay: 100 })], { tokens: 10, cost: 1e8 });
    const tomorrow = (Math.floor(Date.now() / 86_400_000) + 1) * 86_400_000;
    expect(await (await get('/usage/now', 'ada')).json()).toMatchObject([
      {
        party: 'key:k1',
        name: 'laptop',
        limits: [
          { name: 'tokensPerDay', limit: 100, used: 30, resetsAt: tomorrow },
          { name: 'costPerMonth', limit: 2.5, used: 0.5 },
        ],
      },
    ]);
  });
});

describe('/prices', () => {
  it('are read by everyone and changed by admins, also for ids with slashes', async () => {
    const { get, audit } = await openApi();
    const path = '/prices/openai/gpt-oss-120b';
    const body = JSON.stringify({ input: 1, output: 2, asOf: '2026-11-01' });
    expect((await get(path, 'ada', { method: 'PUT', body })).status).toBe(403);
    expect((await get(path, 'ada', { method: 'DELETE' })).status).toBe(403);
    const changed = await get(path, 'admin', { method: 'PUT', body });
    expect(await changed.json()).toEqual({
      model: 'openai/gpt-oss-120b',
      input: 1,
      output: 2,
      asOf: '2026-11-01',
      source: 'changed',
    });
    const prices = (await (await get('/prices', 'ada')).json()) as Price[];
    expect(prices.find(({ model }) => model === 'openai/gpt-oss-120b')).toMatchObject({ input: 1, source: 'changed' });
    expect((await get(path, 'admin', { method: 'DELETE' })).status).toBe(204);
    expect((await get(path, 'admin', { method: 'DELETE' })).status).toBe(404);
    expect(audit).toMatchObject([
      { model: 'openai/gpt-oss-120b', after: { input: 1 } },
      { model: 'openai/gpt-oss-120b', before: { input: 1 } },
    ]);
  });

  it.each([
    ['/prices/m', { input: -1, output: 1 }, 'input'],
    ['/prices/m', { input: 1 }, 'output'],
    ['/prices/m', { input: 1, output: 1, ouput: 1 }, 'ouput'],
    ['/prices/m', { input: 1, output: 1, asOf: 'today' }, 'asOf'],
    ...['a%20b', 'a/', 'a%2F', '%2Fa', 'a%2F%2Fb', 'a%2F..%2Fb', 'lab%2F..', '.%2Fa', '__proto__'].map(
      (model) => [`/prices/${model}`, { input: 1, output: 1 }, 'model'] as const,
    ),
  ] as const)('refuse for %s %j and name the field', async (path, body, field) => {
    const { get } = await openApi();
    const answer = await get(path, 'admin', { method: 'PUT', body: JSON.stringify(body) });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { field } });
  });
});
