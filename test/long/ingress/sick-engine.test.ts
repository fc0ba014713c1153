import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { sufferingShare, type LoadResult } from '../../helpers/broker/measure-load.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { startEngineProxy } from '../../helpers/upstreams/start-engine-proxy.ts';

/** How an engine fails at once. */
const faults: Record<string, (response: ServerResponse) => void> = {
  400: status(400),
  401: status(401),
  500: status(500),
  garbage: (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello</html>'),
};

/** Clients that each send one request after the other. */
const loads = { 'light load': { clients: 10, pauseMs: 300 }, saturation: { clients: 40, pauseMs: 0 } };

/** Milliseconds in which the sick engine is to be found out. */
const warmUpMs = 2_000;
const ms = 5_000;

let cluster: Cluster;

beforeAll(async () => {
  const engine = { DEMO_FIRST_TOKEN_DELAY_MS: '250', DEMO_SLOTS: '64' };
  cluster = await startCluster({ workers: 3, worker: { SLOTS: '4' }, engine });
});

afterAll(() => cluster.stop());

describe('an engine of four that fails at once', () => {
  const cases = Object.keys(faults).flatMap((fault) => Object.keys(loads).map((load) => ({ fault, load })));
  // The machine may be busy with something else for a moment, too.
  const options = { timeout: 40_000, retry: 1 };
  it.each(cases)('with $fault at $load: fewer than 1 % of requests fail or are slow', options, async (each) => {
    const load = loads[each.load as keyof typeof loads];
    const healthy = await measure(load, 500);
    const proxy = await startEngineProxy(() => cluster.engineUrl);
    onTestFinished(() => proxy.stop());
    proxy.fault = faults[each.fault];
    const worker = await cluster.addWorker({ ENGINE_URL: proxy.url });
    onTestFinished(async () => void (await worker.stop()));
    const result = await measure(load, warmUpMs);
    const { jobs, failed } = result;
    const share = sufferingShare(result, healthy);
    const row = { ...each, jobs, failed, share, met: proxy.asked.length, p99: at99(result), healthyP99: at99(healthy) };
    process.stdout.write(`${JSON.stringify(row)}\n`);
    expect(proxy.asked.length).toBeGreaterThan(0);
    expect(failed / jobs, JSON.stringify(row)).toBeLessThan(0.01);
    expect(share, JSON.stringify(row)).toBeLessThan(0.01);
  });
});

/** Requests that begin in the first `afterMs` do not count. */
async function measure(
  { clients, pauseMs }: { clients: number; pauseMs: number },
  afterMs: number,
): Promise<LoadResult> {
  const result: LoadResult = { jobs: 0, failed: 0, moved: 0, ms: [] };
  const beganAt = performance.now();
  const client = async (number: number): Promise<void> => {
    await sleep((pauseMs * number) / clients);
    for (let turn = 0; performance.now() - beganAt < afterMs + ms; turn += 1) {
      const sentAt = performance.now();
      const isServed = await send(`Client ${number} asks for the ${turn}th time.`);
      const endedAt = performance.now();
      if (sentAt - beganAt >= afterMs) {
        result.jobs += 1;
        if (isServed) result.ms.push(endedAt - sentAt);
        else result.failed += 1;
      }
      await sleep(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  result.ms.sort((a, b) => a - b);
  return result;
}

/** Sends a request. @returns whether its stream came to its end */
async function send(content: string): Promise<boolean> {
  const response = await fetch(`${cluster.url}/api/openai/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${cluster.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'auto', stream: true, messages: [{ role: 'user', content }] }),
  });
  return (await response.text()).endsWith('data: [DONE]\n\n') && response.ok;
}

function status(code: number): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"It does not do that.","type":"invalid_request_error"}}');
  };
}

function at99({ ms: times }: LoadResult): number {
  return Math.round(times[Math.floor(times.length * 0.99)] ?? 0);
}
