import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sufferingShare, type LoadResult } from '../../helpers/broker/measure-load.ts';
import { post } from '../../helpers/clients/keyed-requests.ts';
import { startCluster } from '../../helpers/cluster/start-cluster.ts';
import { least } from '../../helpers/least.ts';
import { startEngineProxy } from '../../helpers/upstreams/start-engine-proxy.ts';
import { useStarted } from '../../helpers/use-started.ts';

/** How an engine fails at once. */
const faults = {
  400: status(400),
  500: status(500),
  garbage: (response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>hello</html>'),
};

/** Clients that each send one request after the other. */
const loads = { 'light load': { clients: 10, pauseMs: 300 }, saturation: { clients: 40, pauseMs: 0 } };
type LoadName = keyof typeof loads;

/** Milliseconds in which the sick engine is to be found out. */
const warmUpMs = 2_000;
const ms = 3_000;

/** The share of requests that may fail, or be slow. */
const most = 0.01;

const engine = { DEMO_OPTIONS: 'rate=0 delay=250', DEMO_SLOTS: '64' };
const cluster = useStarted(() => startCluster({ workers: 3, worker: { SLOTS: '4' }, engine }));

describe('an engine of four that fails at once', () => {
  /** What the cluster does without it, by load. */
  const healthy = new Map<LoadName, LoadResult>();
  // Every fault at one load, and the one that is found out by its kind of answer at the other one, too. A 401 is what a 500 is.
  it.each([
    ['400', 'light load'],
    ['500', 'light load'],
    ['500', 'saturation'],
    ['garbage', 'saturation'],
  ] as const)('with %s at %s: fewer than 1 % of requests fail or are slow', async (fault, name) => {
    const load = loads[name];
    /** The share of requests that fail, or are slow. */
    const suffering = async (): Promise<number> => {
      const usual = healthy.get(name) ?? (await measure(load, 500));
      healthy.set(name, usual);
      const proxy = await startEngineProxy(() => cluster.engineUrl);
      onTestFinished(() => proxy.stop());
      proxy.fault = faults[fault];
      const worker = await cluster.addWorker({ ENGINE_URL: proxy.url });
      const result = await measure(load, warmUpMs);
      await worker.stop();
      expect(proxy.asked.length).toBeGreaterThan(0);
      const share = sufferingShare(result, usual);
      // The machine may have become slower.
      if (share >= most) healthy.delete(name);
      return share;
    };
    expect(await least(suffering, most)).toBeLessThan(most);
  });
});

/** Requests that begin in the first `afterMs` do not count. */
async function measure({ clients, pauseMs }: (typeof loads)[LoadName], afterMs: number): Promise<LoadResult> {
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
  const body = { model: 'auto', stream: true, messages: [{ role: 'user', content }] };
  const response = await post({ url: cluster.url, key: cluster.key, body });
  return (await response.text()).endsWith('data: [DONE]\n\n') && response.ok;
}

function status(code: number): (response: ServerResponse) => void {
  return (response) => {
    response.writeHead(code, { 'content-type': 'application/json' });
    response.end('{"error":{"message":"It does not do that.","type":"invalid_request_error"}}');
  };
}
