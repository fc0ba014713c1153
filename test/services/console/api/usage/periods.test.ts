import { expect, it } from 'vitest';
import { RefusalReader } from '#shared/accounts/ledger/refusals/refusal-reader.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import type { UsageRecord } from '#shared/accounts/ledger/usage-record.ts';
import type {
  RequestPage,
  Totals,
  UsageOverview,
  UsageReport,
  UsageRequest,
} from '#services/console/contract/usage.ts';
import { usageOperations } from '#services/console/api/usage/usage-operations.ts';
import type { UsageParts } from '#services/console/api/usage/usage-parts.ts';
import { readRequestQuery } from '#services/console/web/pages/requests/request-query.ts';
import { readUsageQuery } from '#services/console/web/pages/usage/usage-query.ts';
import { ledgerRecord } from '../../../../helpers/accounts/ledger-record.ts';
import { openKeyStore } from '../../../../helpers/accounts/open-key-store.ts';
import { openLedger } from '../../../../helpers/accounts/open-ledger.ts';
import { people, serveOperations } from '../../../../helpers/console/serve-operations.ts';
import { adminCommandsOf } from '../../../../helpers/rtr/admin-commands.ts';
import { seededRandom } from '../../../../helpers/seeded-random.ts';
import { until } from '../../../../helpers/until.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Sums of requests, in the numbers that every way of asking has. Dollars to the nano-dollar. */
type Sums = [requests: number, failed: number, tokens: number, dollars: string];
type Counts = Pick<Totals, 'requests' | 'failed' | 'promptTokens' | 'completionTokens' | 'cost'>;

function sumsOf({ requests, failed, promptTokens, completionTokens, cost }: Counts): Sums {
  return [requests, failed, promptTokens + completionTokens, cost.toFixed(9)];
}

function sumsOfAll(requests: readonly UsageRequest[]): Sums {
  const sums: Counts = { requests: requests.length, failed: 0, promptTokens: 0, completionTokens: 0, cost: 0 };
  for (const { outcome, promptTokens, completionTokens, cost } of requests) {
    sums.failed += Number(outcome === 'failed');
    sums.promptTokens += promptTokens;
    sums.completionTokens += completionTokens;
    sums.cost += cost;
  }
  return sumsOf(sums);
}

/** Makes requests at any time of the last ten days, many of them at the edge of an hour or a day. */
function randomRequests(random: () => number, count: number): UsageRecord[] {
  const below = (most: number): number => Math.floor(random() * most);
  const now = Date.now();
  const ends = [{ outcome: 'done' }, { outcome: 'failed', code: 'worker_lost' }, { outcome: 'cancelled' }] as const;
  return Array.from({ length: count }, () => {
    const unit = [1, hourMs, dayMs][below(3)] ?? 1;
    const at = Math.floor((now - below(10 * dayMs)) / unit) * unit - below(2);
    const key = { id: `k${below(3)}`, name: 'some' };
    const used = { promptTokens: below(1_000), completionTokens: below(100), cost: below(1e9) };
    return ledgerRecord({ at, key, model: `m${below(3)}`, ...used, ...ends[below(3)] });
  });
}

/** The operations of usage as a router serves them to programs, with a random ledger, and the commands that call them. */
async function open(seed: number) {
  const store = await openKeyStore();
  const { redis, prefix } = store;
  const { write } = await openLedger({ requestsKeptMs: 30 * dayMs }, store);
  const random = seededRandom(seed);
  await write(...randomRequests(random, 200));
  const parts = { usage: new UsageReader(redis, prefix), refusals: new RefusalReader(redis, prefix), ...people };
  const { origin, read } = await serveOperations(usageOperations(parts as unknown as UsageParts), '/api/admin/v1');
  const rtr = adminCommandsOf({ url: origin, prefix: 'rtr', token: 'of-the-administrator' });
  return {
    random,
    read,
    rtr,
    /** Returns single requests from the file that the command writes. */
    exported: async (...words: string[]): Promise<UsageRequest[]> =>
      JSON.parse((await rtr.whole('usage', 'export', '--json', ...words)).content),
    listed: async (query: string): Promise<UsageRequest[]> => {
      const requests: UsageRequest[] = [];
      for (let before = ''; ;) {
        const page = await read<RequestPage>(`/usage/requests?${query}&limit=200${before}`);
        requests.push(...page.requests);
        if (page.next === undefined) return requests;
        before = `&before=${page.next}`;
      }
    },
  };
}

// The next hour or day may begin between two calls: then they are repeated.

it.each([1, 2, 3])(
  'seven days are the same on the pages, in the API, in the commands and in files (ledger %i)',
  async (seed) => {
    const { read, rtr, exported, listed } = await open(seed);
    await until(async () => {
      const overview = await read<UsageOverview>('/usage/overview?span=7d');
      const page = readUsageQuery(new URLSearchParams('span=7d'), Date.now());
      const report = await read<UsageReport>(`/usage?${page.reportQuery}`);
      const command = await rtr.json('usage', 'report', '--from', '7d', '--by', 'key');
      const dates = { from: overview.from, to: overview.to };
      expect(dates.to).toBe((Math.floor(Date.now() / dayMs) + 1) * dayMs);
      expect(dates.from).toBe(dates.to - 7 * dayMs);
      for (const { from, to } of [report, command]) expect({ from, to }).toEqual(dates);
      const sums = sumsOf(overview.totals);
      expect(sums[0]).toBeGreaterThan(50);
      expect(sumsOf(report.totals)).toEqual(sums);
      expect(sumsOf(command.totals)).toEqual(sums);
      expect(sumsOf((await rtr.json('usage', 'overview', '--span', '7d')).totals)).toEqual(sums);
      expect(sumsOfAll(await read(`/usage/export?format=json&${page.exportQuery}`))).toEqual(sums);
      expect(sumsOfAll(await exported('--from', '7d'))).toEqual(sums);
      expect(sumsOfAll(await exported('--from', '1w'))).toEqual(sums);
      const log = readRequestQuery(new URLSearchParams('span=7d'), Date.now());
      expect(sumsOfAll(await listed(log.apiQuery))).toEqual(sums);
    });
  },
);

it.each(['1h', '24h'] as const)('the sums of the last %s are the same wherever they are shown', async (span) => {
  const { read, rtr, exported, listed } = await open(4);
  await until(async () => {
    const { from, to, totals } = await read<UsageOverview>(`/usage/overview?span=${span}`);
    const sums = sumsOf(totals);
    expect(sumsOf((await rtr.json('usage', 'overview', '--span', span)).totals)).toEqual(sums);
    expect(sumsOfAll(await exported('--from', span))).toEqual(sums);
    expect(sumsOfAll(await listed(readRequestQuery(new URLSearchParams({ span }), Date.now()).apiQuery))).toEqual(sums);
    if (span === '1h') return;
    const hours = await rtr.json('usage', 'hours');
    expect([hours.from, hours.to, hours.times.length]).toEqual([from, to, 24]);
    const counts: number[] = hours.groups.map((group: { totals: Counts }) => group.totals.requests);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(sums[0]);
  });
});

it('a report of any other time has the sums of the dates that it states', async () => {
  const { random, read, exported } = await open(5);
  for (const key of ['k0', 'k1', 'k2']) {
    const from = Date.now() - Math.floor(random() * 9 * dayMs);
    const to = from + 1 + Math.floor(random() * 3 * dayMs);
    const report = await read<UsageReport>(`/usage?from=${from}&to=${to}&step=day&by=model&key=${key}`);
    expect(report.from).toBeLessThanOrEqual(from);
    expect(report.to).toBeGreaterThanOrEqual(to);
    const [first = '', end = ''] = [report.from, report.to].map((at) => new Date(at).toISOString());
    expect(sumsOfAll(await exported('--from', first, '--to', end, '--key', key))).toEqual(sumsOf(report.totals));
  }
});

it('the commands state the dates of their sums', async () => {
  const { rtr } = await open(6);
  await until(async () => {
    const today = Math.floor(Date.now() / dayMs) * dayMs;
    const [from, to] = [today - 6 * dayMs, today + dayMs].map((at) => new Date(at).toISOString().slice(0, 10));
    const lines = new RegExp(`^from +${from} 00:00\nto +${to} 00:00$`, 'm');
    for (const words of [
      ['report', '--from', '7d'],
      ['overview', '--span', '7d'],
      ['refusals', '--from', '7d'],
    ])
      expect((await rtr('usage', ...words)).join('\n')).toMatch(lines);
  });
});
