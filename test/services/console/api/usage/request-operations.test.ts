import { describe, expect, it } from 'vitest';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import { requestOperations } from '#services/console/api/usage/request-operations.ts';
import type { RequestPage, UsageOverview, UsageRequest } from '#services/console/contract/usage.ts';
import { ledgerRecord } from '../../../../helpers/accounts/ledger-record.ts';
import { openKeyStore } from '../../../../helpers/accounts/open-key-store.ts';
import { writeLedger } from '../../../../helpers/accounts/open-ledger.ts';
import { people, serveOperations, type Viewer } from '../../../../helpers/console/serve-operations.ts';

/** The routes on a server of their own, with some requests in the ledger. */
async function openApi(...records: UsageRecord[]) {
  const store = await openKeyStore();
  const write = (...more: UsageRecord[]) => writeLedger(store, more);
  await write(...records);
  const operations = requestOperations({ usage: new UsageReader(store.redis, store.prefix), ...people });
  const served = await serveOperations(operations);
  const idsOf = async (query: string, viewer?: Viewer) =>
    (await served.read<RequestPage>(`/usage/requests?${query}`, viewer)).requests.map(({ id }) => id);
  return { ...served, write, idsOf };
}

it('GET /usage/requests/{id} answers the request, and answers a request of somebody else as if it did not exist', async () => {
  const { ask, read } = await openApi(ledgerRecord({ id: 'req_a', completionTokens: 7 }));
  const request = { id: 'req_a', completionTokens: 7, owner: { name: 'Ada' } };
  for (const viewer of ['admin', 'ada'] as const)
    expect(await read<UsageRequest[]>('/usage/requests/req_a', viewer)).toMatchObject([request]);
  const [other, unknown] = [await ask('/usage/requests/req_a', 'eve'), await ask('/usage/requests/req_none', 'eve')];
  expect([other.status, unknown.status]).toEqual([404, 404]);
  expect(await other.text()).toBe(await unknown.text());
});

describe('GET /usage/requests', () => {
  it('answers the requests since a given one, and nothing when there are no new ones', async () => {
    const { read, write } = await openApi(ledgerRecord({ id: 'old' }));
    const { newest = '' } = await read<RequestPage>('/usage/requests');
    expect(await read<RequestPage>(`/usage/requests?after=${newest}`)).toEqual({ requests: [], newest });
    await write(ledgerRecord({ id: 'eves', owner: { kind: 'user', id: 'eve' } }), ledgerRecord({ id: 'new' }));
    const seen = await read<RequestPage>(`/usage/requests?after=${newest}`, 'ada');
    expect(seen.requests.map(({ id }) => id)).toEqual(['new']);
    expect(await read<RequestPage>(`/usage/requests?after=${seen.newest}`, 'ada')).toMatchObject({ requests: [] });
  });

  it('has the cursor of each request, behind which the next page begins', async () => {
    const { read, idsOf } = await openApi(...['a', 'b', 'c'].map((id) => ledgerRecord({ id })));
    const { requests, next } = await read<RequestPage>('/usage/requests?limit=2');
    expect(requests.map(({ id }) => id)).toEqual(['c', 'b']);
    expect(await idsOf(`before=${requests[0]?.cursor}`)).toEqual(['b', 'a']);
    expect(next).toBe(requests[1]?.cursor);
  });

  it('finds recorded requests, and requests that were not recorded', async () => {
    const { idsOf, ask, read } = await openApi(
      ledgerRecord({ id: 'a', recorded: true }),
      ledgerRecord({ id: 'b', asked: '"recorded"' }),
      ledgerRecord({ id: 'c', recorded: true, owner: { kind: 'user', id: 'eve' } }),
    );
    expect(await idsOf('recorded=true', 'ada')).toEqual(['a']);
    expect(await idsOf('recorded=false', 'ada')).toEqual(['b']);
    expect(await idsOf('recorded=true')).toEqual(['c', 'a']);
    expect(await idsOf('')).toEqual(['c', 'b', 'a']);
    expect((await ask('/usage/requests?recorded=maybe')).status).toBe(400);
    expect(await read<UsageRequest[]>('/usage/requests/a')).toMatchObject([{ recorded: true }]);
    expect((await read<UsageRequest[]>('/usage/requests/b'))[0]?.recorded).toBeUndefined();
  });

  it('honours a span of time and an error code', async () => {
    const now = Date.now();
    const { idsOf } = await openApi(
      ledgerRecord({ id: 'yesterday', at: now - 86_400_000 }),
      ledgerRecord({ id: 'lost', at: now - 1_000, outcome: 'failed', code: 'worker_lost' }),
      ledgerRecord({ id: 'now', at: now }),
    );
    expect(await idsOf(`from=${now - 3_600_000}`)).toEqual(['now', 'lost']);
    expect(await idsOf(`from=${now - 3_600_000}&to=${now}`)).toEqual(['lost']);
    expect(await idsOf(`to=${now - 3_600_000}`)).toEqual(['yesterday']);
    expect(await idsOf('code=worker_lost')).toEqual(['lost']);
    expect(await idsOf('code=queue_timeout')).toEqual([]);
  });

  it('finds the few requests of one person among many of others', async () => {
    const many = Array.from({ length: 3_000 }, () => ledgerRecord({ owner: { kind: 'user', id: 'eve' } }));
    const { read } = await openApi(ledgerRecord({ id: 'mine' }), ...many);
    const found: string[] = [];
    // A page is short where the machine takes long to read, and the next one continues behind it.
    for (let before: string | undefined = ''; before !== undefined;) {
      const page: RequestPage = await read<RequestPage>(`/usage/requests${before && `?before=${before}`}`, 'ada');
      found.push(...page.requests.map(({ id }) => id));
      before = page.next;
    }
    expect(found).toEqual(['mine']);
  });
});

it('GET /usage/overview answers sums in dollars, and the names of keys and owners', async () => {
  const gone = { key: { id: 'k3', name: 'private matters' }, owner: { kind: 'user' as const, id: 'gone1234' } };
  const { read } = await openApi(
    ledgerRecord({ cost: 2_000_000_000 }),
    ledgerRecord({ key: { id: 'k2', name: 'ci' }, owner: { kind: 'team', id: 't1' } }),
    ...['r', 'x', 'y'].map((id) => ledgerRecord({ id, ...gone })),
  );
  const overview = await read<UsageOverview>('/usage/overview?span=1h');
  expect(overview.totals).toMatchObject({ requests: 5, cost: 2.000004 });
  const keys = overview.keys.map(({ name, owner, requests, tokens }) => `${name} of ${owner}: ${requests}, ${tokens}`);
  const others = ['laptop of Ada: 1, 15', 'ci of Research: 1, 15'];
  expect(keys).toEqual(['deleted person gone of deleted person gone: 3, 45', ...others]);
  expect(JSON.stringify(overview)).not.toContain('private matters');
  expect((await read<UsageOverview>('/usage/overview', 'ada')).totals.requests).toBe(2);
  expect((await read<UsageOverview>('/usage/overview', 'eve')).totals.requests).toBe(0);
});
