import { describe, expect, it } from 'vitest';
import { post as postTo } from '../helpers/clients/keyed-requests.ts';
import { batchClients, chatLine, submit } from '../helpers/batches/batch-clients.ts';
import { startCluster } from '../helpers/cluster/start-cluster.ts';
import { until } from '../helpers/until.ts';
import { openTestWebhooks } from '../helpers/webhooks/open-test-webhooks.ts';
import { adminOf, metricOf } from '../helpers/cluster/worker-admin.ts';
import { useStarted } from '../helpers/use-started.ts';

const cluster = useStarted(() => startCluster({ worker: { ADMIN_PORT: '0', SLOTS: '1' } }));

function post(fields: object, path = 'openai/chat/completions', signal?: AbortSignal): Promise<Response> {
  const body = { messages: [{ role: 'user', content: 'hi' }], ...fields };
  return postTo({ ...cluster, path: `/${path}`, body, ...(signal && { signal }) });
}

async function page(url: string): Promise<string> {
  return (await fetch(url)).text();
}

describe("a worker's admin port", () => {
  it('counts what the worker did, and how its engine answered', async () => {
    const url = await adminOf(cluster.workers[0]);
    await (await post({ model: 'demo', stream: true })).text();
    await (await post({ model: 'demo', max_tokens: 5 }, 'anthropic/v1/messages')).text();
    const job = (format: string) =>
      `rtr_worker_jobs_total{format="${format}",operation="generate",model="demo",outcome="done"}`;
    await until(async () => expect(await metricOf(url, job('messages'))).toBe(1));
    expect(await metricOf(url, job('chat'))).toBe(1);
    const claimed = await metricOf(url, 'rtr_worker_claims_total{outcome="grant"}');
    const offered = await metricOf(url, 'rtr_worker_offers_total{outcome="taken"}');
    expect(Number(claimed) + Number(offered)).toBe(2);
    expect(await metricOf(url, 'rtr_worker_claim_seconds_count')).toBe(claimed);
    expect(await metricOf(url, 'rtr_upstream_requests_total{outcome="2xx"}')).toBe(2);
    expect(await metricOf(url, 'rtr_upstream_first_token_seconds_count')).toBe(1);
    expect(await metricOf(url, 'rtr_worker_slots')).toBe(1);
    expect(await metricOf(url, 'rtr_worker_state{state="serving"}')).toBe(1);
    expect(await metricOf(url, 'rtr_dependency_up{dependency="nats"}')).toBe(1);
  });

  it('is ready while the worker takes jobs, and live while it runs', async () => {
    const url = await adminOf(cluster.workers[0]);
    const health = await fetch(`${url}/health`);
    expect(health.status).toBe(200);
    expect(await health.json()).toMatchObject({ status: 'serving', nats: true, slots: 1, busy: 0 });
    expect((await fetch(`${url}/live`)).status).toBe(200);
  });
});

describe("an ingress's metrics", () => {
  it('never have a name that a client made up', async () => {
    expect((await post({ model: 'made-up-by-a-client' })).status).toBe(404);
    const metrics = await page(`${cluster.adminUrl}/metrics`);
    expect(metrics).not.toContain('made-up-by-a-client');
    expect(metrics).toMatch(/^rtr_refusals_total\{format="chat",code="model_not_found"\} 1$/m);
  });

  it('cover both stores', async () => {
    for (const dependency of ['nats', 'redis']) {
      const of = (series: string) => metricOf(cluster.adminUrl, `rtr_dependency_${series}{dependency="${dependency}"}`);
      expect(await of('up')).toBe(1);
      expect(await of('round_trip_seconds')).toBeGreaterThan(0);
    }
  });

  it('list the lanes in which something waits, and drop them when nothing does', async () => {
    const first = new AbortController();
    const hanging = post({ model: 'demo', demo: { first_token_delay_ms: 60_000 } }, undefined, first.signal);
    await until(async () => (await metricOf(cluster.adminUrl, 'rtr_jobs{state="claimed"}')) === 1);
    const answers = [post({ model: 'demo' }), post({ model: 'demo' })];
    let metrics = '';
    await until(async () => {
      metrics = await page(`${cluster.adminUrl}/metrics`);
      return metrics.includes('\nrtr_queue_waiting{tier="gpu"} 2\n');
    });
    expect(metrics).toMatch(/^rtr_lane_waiting\{tier="gpu",pool="[\w-]+",class="normal"\} 2$/m);
    expect(metrics).toMatch(/^rtr_lane_oldest_seconds\{tier="gpu",pool="[\w-]+",class="normal"\} [\d.e-]+$/m);
    expect(Number(/^rtr_queue_oldest_seconds (.*)$/m.exec(metrics)?.[1])).toBeGreaterThan(0);
    first.abort();
    await expect(hanging).rejects.toThrow('aborted');
    for (const answer of answers) await (await answer).text();
    expect(await page(`${cluster.adminUrl}/metrics`)).not.toContain('rtr_lane_waiting{');
    expect(await metricOf(cluster.adminUrl, 'rtr_queue_waiting{tier="gpu"}')).toBe(0);
  });

  it('count the background work of each kind that no runner has finished', async () => {
    const { add, outbox, batchEvent } = await openTestWebhooks({ prefix: `${cluster.prefix}:` });
    const unfinished = (kind: string) => metricOf(cluster.adminUrl, `rtr_background_unfinished{kind="${kind}"}`);
    const waiting = () => Promise.all(['batches', 'responses', 'webhooks'].map(unfinished));
    expect(await waiting()).toEqual([0, 0, 0]);
    await add('https://hooks.example.com/in');
    await outbox.emit(batchEvent());
    expect(await waiting()).toEqual([0, 0, 1]);
    expect((await post({ model: 'demo', input: 'Hi.', background: true }, 'openai/responses')).status).toBe(200);
    expect(await waiting()).toEqual([0, 1, 1]);
    await submit(batchClients(cluster).openai, [chatLine('a', 'Hi.')]);
    expect(await waiting()).toEqual([1, 1, 1]);
  });

  it('drop a worker that is gone', async () => {
    const worker = await cluster.addWorker({ ADMIN_PORT: '' });
    const { worker: id } = await worker.line('gpu-worker is ready');
    const series = `rtr_slots{tier="gpu",worker="${String(id)}"}`;
    await until(async () => expect(await metricOf(cluster.adminUrl, series)).toBe(1));
    // Its own port is closed unless it is set.
    expect(worker.lines.some(({ msg }) => msg === 'the admin port is open')).toBe(false);
    await worker.stop();
    await until(async () => expect(await metricOf(cluster.adminUrl, series)).toBeUndefined());
  });
});

describe("the cluster's load", () => {
  it('counts requests that wait for a tier without workers, at every ingress', async () => {
    const other = await cluster.addIngress();
    const loadIs = async (gpu: object) => {
      for (const url of [cluster.adminUrl, other.adminUrl])
        await until(async () => expect(await (await fetch(`${url}/load`)).json()).toMatchObject({ tiers: { gpu } }));
    };
    await loadIs({ waiting: 0, busy: 0, slots: 1, workers: 1 });
    await cluster.workers[0]?.stop();
    await until(() => cluster.ingress.lines.some(({ msg }) => msg === 'worker left'));
    const waiting = post({ model: 'demo' });
    await loadIs({ waiting: 1, busy: 0, slots: 0, workers: 0 });
    await cluster.addWorker();
    expect((await waiting).status).toBe(200);
    await other.process.stop();
  });
});
