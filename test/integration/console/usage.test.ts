import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post } from '../../helpers/clients/keyed-requests.ts';
import type { ConsoleClient } from '../../helpers/console/console-client.ts';
import { useCluster } from '../../helpers/cluster/share-cluster.ts';
import { newAdministrator } from '../../helpers/console/new-administrator.ts';
import { until } from '../../helpers/until.ts';
import { useStarted } from '../../helpers/use-started.ts';

let ada: ConsoleClient;
let adaId: string;

const cluster = useCluster();
const other = useStarted(() => cluster.otherIngress());
beforeAll(async () => {
  ({ client: ada, id: adaId } = await newAdministrator(cluster));
});
afterAll(() => ada?.delete('/prices/demo'));

const ask = (url: string, key: string): Promise<Response> =>
  post({ url, key, body: { model: 'demo', max_tokens: 20, messages: [{ role: 'user', content: 'Hello!' }] } });

describe("a key's use", () => {
  it('has the price and the limit that an admin sets, and appears in the console', async () => {
    const price = { input: 1_000, output: 2_000, asOf: '2026-11-01' };
    expect((await ada.put('/prices/demo', price)).body).toMatchObject({ model: 'demo', source: 'changed' });
    const { body } = await ada.post('/keys', { kind: 'user', name: 'laptop', limits: { requestsPerMinute: 2 } });
    const key = String(body.raw);
    const first = await ask(cluster.url, key);
    const { usage } = (await first.json()) as { usage: { prompt_tokens: number; completion_tokens: number } };
    const cost = (usage.prompt_tokens * 1_000 + usage.completion_tokens * 2_000) / 1e6;
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('1');
    expect((await ask(other.url, key)).status).toBe(200);
    expect((await ask(other.url, key)).status).toBe(429);

    const used = (await ada.get('/usage/now')).body as { party: string }[];
    const limits = used.find(({ party }) => party === `key:${body.key.id}`);
    expect(limits).toMatchObject({ name: 'laptop', limits: [{ name: 'requestsPerMinute', limit: 2 }] });
    const ofAda = `user=${adaId}`;
    await until(async () => (await ada.get(`/usage/requests?${ofAda}`)).body.requests.length === 2);
    const { requests } = (await ada.get(`/usage/requests?${ofAda}`)).body;
    expect(requests).toMatchObject([{}, { key: { name: 'laptop' }, owner: { kind: 'user', name: 'Ada' }, cost }]);
    const range = `from=${Date.now() - 60_000}&to=${Date.now() + 60_000}`;
    const report = (await ada.get(`/usage?${range}&step=day&by=user&${ofAda}`)).body;
    expect(report.groups).toMatchObject([{ name: 'Ada', totals: { requests: 2 } }]);
    expect(report.totals.cost).toBeCloseTo(2 * cost, 9);
    const audit = (await ada.get('/audit')).body.data;
    expect(JSON.stringify(audit)).toContain('price.change');
  });
});
