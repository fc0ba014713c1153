import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { recordOf } from '../../helpers/accounts/read-usage.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { withRegistry } from '../../helpers/cluster/with-registry.ts';
import { useStarted } from '../../helpers/use-started.ts';

/*
 * A third client format, added by one object and one folder, and served by the real ingress, broker, worker and engine
 * without a change to their files.
 */

const withToy = { NODE_OPTIONS: `--import=${pathToFileURL(join(import.meta.dirname, 'add-toy.ts')).href}` };

const cluster = useStarted(() =>
  startCluster({
    ingress: { ...withRegistry('prices: { demo: { input: 1, output: 2 } }'), ...withToy, KEEP_ALIVE_MS: '200' },
    worker: withToy,
  }),
);

function talk(fields: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${cluster.url}/api/toy/v9/talk`, {
    method: 'POST',
    body: JSON.stringify({ engine: 'demo', say: 'Hello!', ...fields }),
    headers: { 'x-toy-key': cluster.key, 'content-type': 'application/json', ...headers },
  });
}

interface ToyEvent {
  name: string;
  n: number;
  [field: string]: unknown;
}

async function eventsOf(answer: Response): Promise<ToyEvent[]> {
  return Array.from((await answer.text()).matchAll(/event: (\w+)\ndata: (.*)\n\n/g), ([, name = '', data = '']) => ({
    name,
    ...(JSON.parse(data) as { n: number }),
  }));
}

describe('a format that was added by one object and one folder', () => {
  it('is served without streaming, counted and billed', async () => {
    const answer = await talk({ say: 'Hi!\n[demo tokens=17]' }, { 'x-request-id': 'toy-whole' });
    expect(answer.status).toBe(200);
    const body = (await answer.json()) as { id: string; said: string; in: number; out: number };
    expect(body).toMatchObject({ id: expect.stringMatching(/^toy-/) as string, out: 17 });
    expect(body.said).not.toBe('');
    const record = await recordOf(cluster, 'toy-whole');
    expect(record).toMatchObject({ format: 'toy', outcome: 'done', promptTokens: body.in, completionTokens: 17 });
    expect(record.cost).toBe(body.in * 1_000 + 17 * 2_000);
  });

  it('is streamed with numbers without gaps', async () => {
    // A keep-alive that comes before the answer has a number of its own.
    const events = (await eventsOf(await talk({ live: true }))).filter(({ name }) => name !== 'wait');
    expect(events.map(({ n }) => n)).toEqual(events.map((_, at) => at + 1));
    expect(events.filter(({ name }) => name === 'piece').length).toBeGreaterThan(1);
    expect(events.at(-1)).toMatchObject({ name: 'over', id: expect.stringMatching(/^toy-/) as string });
  });

  it('has its own keep-alives while a client waits', async () => {
    const events = await eventsOf(await talk({ live: true, say: 'Hi!\n[demo delay=3000]' }));
    expect(events[0]).toMatchObject({ name: 'wait', n: 1 });
    expect(events.at(-1)).toMatchObject({ name: 'over' });
  });

  it('has errors of its own before an answer', async () => {
    const refused = await talk({ say: 7 });
    expect(refused.status).toBe(400);
    const wrong = { code: 'invalid_request', message: 'toy: say is wrong', param: 'say' };
    expect(await refused.json()).toEqual({ wrong });
    const failed = await talk({ say: 'Hi!\n[demo fault=500]' });
    expect(failed.status).toBe(502);
    expect(await failed.json()).toMatchObject({ wrong: { code: 'upstream_failed' } });
    const unknown = await talk({ engine: 'nobody-has-it' });
    expect(unknown.status).toBe(404);
    expect(await unknown.json()).toMatchObject({ wrong: { code: 'model_not_found' } });
  });

  it('has an error event of its own in a stream, whose relayed part is billed', async () => {
    const breaking = { live: true, say: 'Hi!\n[demo fault=drop after=6 rate=100]' };
    const answer = await talk(breaking, { 'x-request-id': 'toy-broken' });
    expect(answer.status).toBe(200);
    const events = await eventsOf(answer);
    const pieces = events.filter(({ name }) => name === 'piece').length;
    expect(pieces).toBeGreaterThan(0);
    expect(events.at(-1)).toEqual({ name: 'broke', n: events.length, code: 'upstream_failed' });
    const record = await recordOf(cluster, 'toy-broken');
    expect(record).toMatchObject({ format: 'toy', outcome: 'failed', code: 'upstream_failed' });
    expect(record.completionTokens).toBeGreaterThanOrEqual(pieces);
  });

  it('lists models, answers its greeting without a key, and refuses keys and methods with its own errors', async () => {
    const at = (path: string, init: RequestInit = {}) => fetch(`${cluster.url}/api/toy${path}`, init);
    const keyed = { headers: { 'x-toy-key': cluster.key } };
    expect(await (await at('/v9/models', keyed)).json()).toEqual({ engines: ['auto', 'demo'] });
    expect(await (await at('/v9/models/demo', keyed)).json()).toEqual({ engine: 'demo' });
    expect(await (await at('/ping')).json()).toEqual({ pong: true });
    const missing = await at('/v9/models');
    expect([missing.status, await missing.json()]).toMatchObject([401, { wrong: { code: 'missing_key' } }]);
    const wrong = await at('/v9/talk', keyed);
    expect([wrong.status, await wrong.json()]).toMatchObject([405, { wrong: { code: 'method_not_allowed' } }]);
    const nowhere = await at('/v9/nowhere', keyed);
    expect([nowhere.status, await nowhere.json()]).toMatchObject([404, { wrong: { code: 'not_found' } }]);
  });

  it('is limited, and reports in its own headers what is left', async () => {
    const { raw } = await cluster.addKey({ limits: { requestsPerMinute: 1 } });
    const first = await talk({}, { 'x-toy-key': raw });
    expect([first.status, first.headers.get('toy-requests-left')]).toEqual([200, '0']);
    const second = await talk({}, { 'x-toy-key': raw });
    expect([second.status, await second.json()]).toMatchObject([429, { wrong: { code: 'rate_limit_exceeded' } }]);
  });

  it('is counted in the metrics under its name', async () => {
    const metrics = await (await fetch(`${cluster.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/rtr_requests_total\{[^}]*format="toy"[^}]*outcome="done"[^}]*\} [1-9]/);
    expect(metrics).toMatch(/rtr_refusals_total\{[^}]*format="toy"[^}]*code="model_not_found"[^}]*\} 1/);
  });

  it('is never given to a worker that cannot translate it', async () => {
    await cluster.addWorker({ NODE_OPTIONS: '' });
    const id = cluster.ingress.lines.findLast(({ msg }) => msg === 'worker joined')?.['worker'];
    expect(id).toBeTypeOf('string');
    const served = await Promise.all(Array.from({ length: 20 }, () => talk({})));
    expect(served.map(({ status }) => status)).toEqual(served.map(() => 200));
    expect(served.map(({ headers }) => headers.get('x-rtr-worker'))).not.toContain(id);
    await Promise.all(served.map((answer) => answer.text()));
  });
});
