// @module-tag prometheus
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Prometheus, startPrometheus } from '../../helpers/deploy/start-prometheus.ts';
import { dashboardQueries, readAlerts } from '../../helpers/deploy/observability-files.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { batchClients, chatLine, submit } from '../../helpers/batches/batch-clients.ts';
import { withRegistry } from '../../helpers/cluster/with-registry.ts';
import { until } from '../../helpers/until.ts';
import { startEngineProxy, type EngineProxy } from '../../helpers/upstreams/start-engine-proxy.ts';
import { startRedis } from '../../helpers/servers/start-redis.ts';
import type { ServiceProcess } from '../../helpers/processes/start-process.ts';
import { adminOf } from '../../helpers/cluster/worker-admin.ts';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { useFolder } from '../../helpers/files/temporary-folder.ts';
import { useStarted } from '../../helpers/use-started.ts';

let second: ServiceProcess;
let runner: ServiceProcess;
let limitedKey: string;
let proxy: EngineProxy;
let prometheus: Prometheus;

const folder = useFolder();
const redis = useStarted(() => startRedis());
const cluster = useStarted(() => {
  const worker = { ADMIN_PORT: '0', SLOTS: '1' };
  const rules = 'models: {ruled: {targets: [{model: demo}], purposes: {auxiliary: {targets: [{model: demo}]}}}}';
  const ingress = { NO_WORKER_TIMEOUT_MS: '4000', ...withRegistry(rules) };
  return startCluster({ redisUrl: redis.url, worker, ingress });
});
const other = useStarted(() => cluster.addIngress());
beforeAll(async () => {
  proxy = await startEngineProxy(() => cluster.engineUrl);
  second = await cluster.addWorker({ ENGINE_URL: proxy.url });
  const args = [resolve('test/helpers/upstreams/mcp-test-server.ts'), join(folder, 'diary')];
  const server = { command: 'node', args };
  writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ mcpServers: { test: server } }));
  const tools = await cluster.addToolsWorker({ ADMIN_PORT: '0', MCP_CONFIG: join(folder, 'mcp.json') });
  const cli = await cluster.addCliWorker({ ADMIN_PORT: '0' });
  // The metrics of mails are those of a runner that sends some; here none is due.
  const mail = { SMTP_URL: 'smtp://127.0.0.1:1', MAIL_FROM: 'router@example.com' };
  runner = await cluster.addBatchRunner({ ADMIN_PORT: '0', ...mail });
  limitedKey = (await cluster.addKey({ limits: { requestsPerMinute: 1 } })).raw;
  const workers = [cluster.workers[0], second, tools, cli].map(adminOf);
  prometheus = await startPrometheus(
    {
      'rtr-ingress': [cluster, other].map(({ adminUrl }) => hostOf(adminUrl)),
      'rtr-runner': [hostOf(await adminOf(runner))],
      'rtr-worker': (await Promise.all(workers)).map(hostOf),
    },
    '2s',
  );
  await until(async () => (await prometheus.targetsUp()) === 7);
}, 120_000);
afterAll(() => Promise.all([prometheus.stop(), proxy.stop()]));

function hostOf(url: string): string {
  return new URL(url).host;
}

async function ask(
  path: string,
  fields: object,
  { url, key }: { url: string; key: string } = cluster,
  further: Record<string, string> = {},
): Promise<number> {
  const answer = await post({ url, key, path: `/${path}`, body: fields, headers: further });
  await answer.text();
  return answer.status;
}

const messages = [{ role: 'user', content: 'Tell me something.' }];
const chat = (fields: object = {}) => ask('openai/chat/completions', { model: 'demo', messages, ...fields });

const slow = { stream: true, demo: { first_token_delay_ms: 300, answer_tokens: 30, tokens_per_second: 60 } };

/** Has a worker ejected until a scrape sees it. Its engine refuses: a worker whose engine fails would take no more jobs by itself. */
async function ejectOne(): Promise<void> {
  proxy.fault = (response) => void response.writeHead(400).end('{"error":{"message":"no"}}');
  await until(async () => {
    await Promise.all(Array.from({ length: 3 }, () => chat(slow)));
    expect(await prometheus.seriesOf('rtr_ejected_workers > 0', 3)).toBeGreaterThan(0);
  });
  proxy.fault = undefined;
}

/** A second or two of what the dashboards show: formats, tools, errors, moves, waits, limits. */
async function everything(): Promise<void> {
  proxy.failNext = 1;
  await Promise.all([
    ...Array.from({ length: 3 }, () => chat(slow)),
    ask('anthropic/v1/messages', { model: 'demo', max_tokens: 20, messages }),
    ask('tools/v1/execute', { tool: 'calculator', input: { expression: '1+1' } }),
    chat({ model: 'nothing' }),
    chat({ temperature: 9 }),
    ask('openai/chat/completions', { model: 'demo', messages }, { url: other.url, key: limitedKey }),
  ]);
}

describe('a real Prometheus on a cluster with traffic', () => {
  it('has data for every query of every dashboard, and finds nothing wrong', async () => {
    const begun = performance.now();
    const stored = await ask('openai/responses', { model: 'demo', max_output_tokens: 20, input: 'Hello.' });
    const purpose = { 'x-rtr-purpose': 'auxiliary' };
    const ruled = await ask('openai/chat/completions', { model: 'ruled', messages }, cluster, purpose);
    expect([stored, ruled]).toEqual([200, 200]);
    await ejectOne();
    const late = { demo: { first_token_delay_ms: 1_000 } };
    const lines = Array.from({ length: 10 }, (_, at) => chatLine(String(at), 'Take your time.', late));
    await submit(batchClients(cluster).openai, lines);
    await until(async () => {
      await everything();
      const seconds = (performance.now() - begun) / 1_000;
      const empty: string[] = [];
      for (const { where, expr } of dashboardQueries())
        if ((await prometheus.seriesOf(expr, seconds)) === 0) empty.push(`${where}: ${expr}`);
      expect(empty).toEqual([]);
    }, 90_000);
  });

  it('can evaluate every alert', async () => {
    for (const { alert, expr } of readAlerts()) {
      expect(await prometheus.seriesOf(expr, 30), alert).toBeGreaterThanOrEqual(0);
    }
  });

  it('fires alerts for stopped parts, for work without a worker or a runner, and for a store that is down', async () => {
    const fires = (alert: string) => until(async () => expect(await prometheus.firing()).toContain(alert), 60_000);
    // One that a busy machine has let fire ends by itself.
    const rests = (alert: string) => until(async () => expect(await prometheus.firing()).not.toContain(alert));
    await rests('RtrPartDown');
    await second.kill();
    await fires('RtrPartDown');

    const { openai } = batchClients(cluster);
    await until(async () => expect(await prometheus.seriesOf('rtr_background_unfinished > 0', 1)).toBe(0), 60_000);
    await runner.kill();
    await until(async () => expect(await prometheus.targetsUp()).toBe(5));
    await sleep(4_000);
    expect(await prometheus.firing()).not.toContain('RtrNoBatchRunner');
    await submit(openai, [chatLine('a', 'Hello.')]);
    await fires('RtrNoBatchRunner');

    await rests('RtrNoWorker');
    await cluster.workers[0]?.kill();
    await sleep(4_000);
    const waiting = Array.from({ length: 60 }, () => chat());
    await fires('RtrNoWorker');
    expect(new Set(await Promise.all(waiting))).toEqual(new Set([503]));
    await fires('RtrErrorRate');

    await redis.kill();
    await fires('RtrDependencyDown');

    await Promise.all([cluster.ingress.kill(), other.process.kill()]);
    await fires('RtrNoIngress');
  });
});
