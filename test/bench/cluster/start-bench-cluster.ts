import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Releases } from '#shared/core/release.ts';
import { RtrKeys } from '../peers/systems/rtr-keys.ts';
import { partStarter, startCore, startUpstream } from './start-core.ts';
import type { Part } from './start-part.ts';
import { startBenchNats, startBenchRedis } from './start-servers.ts';

const memoryProbe = 'test/bench/cluster/memory-probe.ts';
const prefix = 'bench';

export async function startBenchCluster(releases: Releases) {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-bench-'));
  releases.add('the folder', () => rmSync(folder, { recursive: true, force: true }));
  const nats = await startBenchNats(folder, releases);
  const redis = await startBenchRedis(folder, releases);
  const start = partStarter(folder, releases);
  const { part: upstream, port: upstreamPort } = await startUpstream(start);
  const bareEnv = { NATS_URL: nats.url, UPSTREAM: `http://127.0.0.1:${upstreamPort}` };
  const bareWorker = start('bare-worker', 'test/bench/bare/bare-worker.ts', bareEnv);
  await bareWorker.ask();
  const bareIngress = start('bare-ingress', 'test/bench/bare/bare-ingress.ts', bareEnv);
  const barePort = (await bareIngress.ask<{ port: number }>()).port;
  const key = await RtrKeys.makeOne(redis.url, prefix);
  const place = { nats, redis, prefix, preload: memoryProbe };
  const { port, ingress, startWorker, untilWorkers } = await startCore(start, place);
  const workers: Part[] = [];
  const scaleTo = async (count: number): Promise<void> => {
    while (workers.length < count) workers.push(startWorker(`worker-${workers.length}`, upstreamPort));
    await untilWorkers('gpu', count);
  };
  await scaleTo(1);
  return {
    through: { host: '127.0.0.1', port, path: '/api/openai/v1/chat/completions', key },
    direct: { host: '127.0.0.1', port: upstreamPort, path: '/v1/chat/completions', key },
    /** The bare prototype of the design: the cost of the way through the broker alone on this machine. */
    bare: { host: '127.0.0.1', port: barePort, path: '/v1/chat/completions', key },
    bareParts: { ingress: bareIngress, worker: bareWorker },
    ingress,
    workers,
    nats: nats.pid,
    redis: redis.pid,
    generator: start('generator', 'test/bench/load/load-generator.ts'),
    upstream,
    /** Starts workers until this number runs, and waits until the ingress lists them all. */
    scaleTo,
  };
}

/** The cluster under test, as in production: real servers, services as processes of their own, logs of level info in files. */
export type BenchCluster = Awaited<ReturnType<typeof startBenchCluster>>;
