import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { PriceTable } from '#shared/accounts/prices/price-table.ts';
import { RefusalReader } from '#shared/accounts/ledger/refusals/refusal-reader.ts';
import { usageOperations } from '#services/console/api/usage/usage-operations.ts';
import type { Price, UsageHours, UsageReport, UsageRequest } from '#services/console/contract/usage.ts';
import { keyWith, openLimitKeeper } from '../../../../helpers/accounts/open-limit-keeper.ts';
import { ledgerRecord } from '../../../../helpers/accounts/ledger-record.ts';
import { people, serveOperations, type Viewer } from '../../../../helpers/console/serve-operations.ts';
import { silentLog } from '../../../../helpers/silent-log.ts';

const record = (id: string, fields: Partial<UsageRecord> = {}) =>
  ledgerRecord({ id, at: Date.UTC(2026, 10, 21, 12), cost: 1_500_000, ...fields });

/** The routes on a server of their own, with some requests in the ledger. */
async function openApi(...records: UsageRecord[]) {
  const { keeper, redis, prefix, reserve } = await openLimitKeeper(inject('redisUrl'));
  const ledger = new UsageLedger(redis, prefix, silentLog, { maxRequests: 1_000, requestsKeptMs: 1e12 });
  for (const each of records) ledger.add(each);
  await ledger.close();
  const announce = async () => undefined;
  const prices = new PriceTable({ redis, prefix, log: silentLog, registeredPrices: () => ({}), announce });
  const audit: unknown[] = [];
  onTestFinished(() => prices.close());
  const { ask, read } = await serveOperations(
    usageOperations({
      usage: new UsageReader(redis, prefix),
      refusals: new RefusalReader(redis, prefix),
      limits: keeper,
      prices,
      ...people,
      namesOf: async () => new Map(await people.namesOf()).set('user:ada', '=Ada, "the" first'),
      listLimitedParties: async () => [{ ...keyWith({ tokensPerDay: 100, costPerMonth: 2.5 }), name: 'laptop' }],
      auditPriceChange: async (_, model, change) => void audit.push({ model, ...change }),
    }),
  );
  const refusalOf = async (path: string, init?: RequestInit) => {
    const answer = await ask(path, 'admin', init);
    expect([path, answer.status]).toEqual([path, 400]);
    return ((await answer.json()) as { error: { code: string; field?: string; message: string } }).error;
  };
  return { ask, read, refusalOf, audit, reserve };
}

const range = `from=${Date.UTC(2026, 10, 20)}&to=${Date.UTC(2026, 10, 22)}`;

describe('GET /usage', () => {
  it('answers totals in dollars, with the names of the groups', async () => {
    const team = { key: { id: 'k2', name: 'ci' }, owner: { kind: 'team' as const, id: 't1' } };
    const root = { key: { id: 'k3', name: 'root' }, owner: undefined };
    const { read } = await openApi(record('a'), record('b', team), record('c', root));
    const report = await read<UsageReport>(`/usage?${range}&step=day&by=team`);
    expect(report.times).toHaveLength(2);
    expect(report.totals).toMatchObject({ requests: 3, cost: 0.0045 });
    const counts = report.groups.map(({ name, totals }) => `${name} ${totals.requests}`);
    expect(counts).toEqual(['none 2', 'Research 1']);
    const own = await read<UsageReport>(`/usage?${range}&step=month&by=key`, 'ada');
    expect(own.groups.map(({ name }) => name).toSorted()).toEqual(['ci', 'laptop']);
    const nobody = await read<UsageReport>(`/usage?${range}&step=month&by=key`, 'stranger');
    expect(nobody.groups).toEqual([]);
  });

  it('refuses a wrong query and names the field', async () => {
    const { refusalOf } = await openApi();
    for (const [path = '', field] of [
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
    ]) {
      const { message, ...error } = await refusalOf(path);
      expect(error).toEqual({ code: 'invalid_request', field });
      expect(message).not.toMatch(/NaN|undefined/);
    }
  });
});

describe('GET /usage/hours', () => {
  const hours = () => `from=${Date.now() - 3_600_000}&to=${Date.now()}`;

  it('answers the hours that the viewer may see, in dollars, with the names of the groups', async () => {
    const { read } = await openApi(
      record('a', { at: Date.now(), cost: 2_000_000_000 }),
      record('b', { at: Date.now(), key: { id: 'k2', name: 'ci' }, owner: { kind: 'team', id: 't1' } }),
    );
    const groups = async (query: string, viewer?: Viewer) =>
      (await read<UsageHours>(`/usage/hours?${hours()}&${query}`, viewer)).groups;
    const [first] = await groups('by=user&user=ada');
    expect(first).toMatchObject({ id: 'ada', name: '=Ada, "the" first', totals: { requests: 1, cost: 2 } });
    expect(first?.steps.at(-1)).toMatchObject({ requests: 1, cost: 2 });
    expect((await groups('by=key')).map(({ name }) => name).toSorted()).toEqual(['ci', 'laptop']);
    expect((await groups('by=team')).map(({ name }) => name).toSorted()).toEqual(['Research', 'none']);
    expect(await groups('by=model', 'eve')).toEqual([]);
  });

  it('refuses a query that it cannot answer', async () => {
    const { refusalOf } = await openApi();
    const [tooEarly, tooLate] = [Date.now() - 9 * 86_400_000, Date.now() + 3_600_000].map((at) => `by=key&from=${at}`);
    for (const query of ['by=tier', 'by=model&key=k1', tooEarly, tooLate]) {
      const asked = new URLSearchParams(hours());
      for (const [name, value] of new URLSearchParams(query)) asked.set(name, value);
      await refusalOf(`/usage/hours?${asked.toString()}`);
    }
  });
});

describe('GET /usage/export', () => {
  it('streams all requests as JSON', async () => {
    const ids = Array.from({ length: 450 }, (_, index) => `r${index}`);
    const { ask, read } = await openApi(...ids.map((id) => record(id)));
    const answer = await ask(`/usage/export?${range}&format=json`);
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="usage.json"');
    expect(((await answer.json()) as UsageRequest[]).map(({ id }) => id)).toEqual(ids);
    expect(await read(`/usage/export?${range}&format=json`, 'stranger')).toEqual([]);
  });

  it('streams a table in which no text is read as a formula', async () => {
    const { ask } = await openApi(record('a', { key: { id: 'k1', name: "@SUM(1+1)*cmd|' /C calc'!A0" } }));
    const answer = await ask(`/usage/export?${range}&format=csv`);
    expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [head, line, rest] = (await answer.text()).split('\r\n');
    expect(head).toContain('id,at,key_id,key_name,owner_kind');
    expect(line).toBe(
      `a,2026-11-21T12:00:00.000Z,k1,'@SUM(1+1)*cmd|' /C calc'!A0,user,ada,"'=Ada, ""the"" first",` +
        'chat,generate,auto,m1,gpu,w1,done,,1,1,50,400,10,2,5,1,0.0015,,,,,,,',
    );
    expect(rest).toBe('');
  });
});

it('GET /usage/now answers the use of each limit, reservations included', async () => {
  const { read, reserve } = await openApi();
  (await reserve([keyWith({ tokensPerDay: 100 })], { tokens: 30, cost: 5e8 })).commit({ tokens: 20, cost: 4e8 });
  await reserve([keyWith({ tokensPerDay: 100 })], { tokens: 10, cost: 1e8 });
  const tomorrow = (Math.floor(Date.now() / 86_400_000) + 1) * 86_400_000;
  const tokens = { name: 'tokensPerDay', limit: 100, used: 30, resetsAt: tomorrow };
  const limits = [tokens, { name: 'costPerMonth', limit: 2.5, used: 0.5 }];
  expect(await read('/usage/now', 'ada')).toMatchObject([{ party: 'key:k1', name: 'laptop', limits }]);
});

describe('/prices', () => {
  it('are read by everyone and changed by admins, also for ids with slashes', async () => {
    const { ask, read, audit } = await openApi();
    const [model, price] = ['openai/gpt-oss-120b', { input: 1, output: 2, asOf: '2026-11-01' }];
    const [path, body] = [`/prices/${model}`, JSON.stringify(price)];
    for (const change of [{ method: 'PUT', body }, { method: 'DELETE' }])
      expect((await ask(path, 'ada', change)).status).toBe(403);
    const changed = { model, ...price, source: 'changed' };
    expect(await (await ask(path, 'admin', { method: 'PUT', body })).json()).toEqual(changed);
    const prices = await read<Price[]>('/prices', 'ada');
    expect(prices.find((each) => each.model === model)).toMatchObject(changed);
    for (const status of [204, 404]) expect((await ask(path, 'admin', { method: 'DELETE' })).status).toBe(status);
    expect(audit).toMatchObject([
      { model, after: { input: 1 } },
      { model, before: { input: 1 } },
    ]);
  });

  it('are refused when they are invalid, and the refusal names the field', async () => {
    const { refusalOf } = await openApi();
    for (const [path, body, field] of [
      ['/prices/m', { input: -1, output: 1 }, 'input'],
      ['/prices/m', { input: 1 }, 'output'],
      ['/prices/m', { input: 1, output: 1, ouput: 1 }, 'ouput'],
      ['/prices/m', { input: 1, output: 1, asOf: 'today' }, 'asOf'],
      ...['a%20b', 'a/', 'a%2F', '%2Fa', 'a%2F%2Fb', 'a%2F..%2Fb', 'lab%2F..', '.%2Fa', '__proto__'].map(
        (model) => [`/prices/${model}`, { input: 1, output: 1 }, 'model'] as const,
      ),
    ] as const)
      expect(await refusalOf(path, { method: 'PUT', body: JSON.stringify(body) }), path).toMatchObject({ field });
  });
});
