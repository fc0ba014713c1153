import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Releases } from '#shared/core/release.ts';
import { freePort } from '#services/rtr/up/servers/free-port.ts';
import { serviceNodeFlags } from '#services/rtr/bootstrap/service-node-flags.mjs';
import type { LoadTarget } from '../load/load.ts';
import { makeKey } from './make-key.ts';
import { Part } from './start-part.ts';
import { startBenchNats, startBenchRedis } from './start-servers.ts';
import { untilWorkers } from './until-workers.ts';

/** Jobs that one worker takes at once: the most that a gpu-worker can be set to. */
export const slotsPerWorker = 1_024;

const memoryProbe = 'test/bench/cluster/memory-probe.ts';
const prefix = 'bench';

/** The cluster under test, as in production: real servers, services of their own processes, logs at info into files. */
export interface BenchCluster {
  /** The cluster, as clients see it. */
  through: LoadTarget;
  /** The fake upstream itself. */
  direct: LoadTarget;
  /** The bare prototype of the design: what this machine asks for the way through the broker alone. */
  bare: LoadTarget;
  bareParts: { ingress: Part; worker: Part };
  ingress: Part;
  workers: Part[];
  /** Process ids of the servers. */
  nats: number;
  redis: number;
  generator: Part;
  upstream: Part;
  /** Starts workers until there are so many, and waits until the ingress knows them all. */
  scaleTo(workers: number): Promise<void>;
}

/** Starts everything and registers its release. */
export async function startBenchCluster(releases: Releases): Promise<BenchCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'rtr-bench-'));
  releases.add('the folder', () => rmSync(folder, { recursive: true, force: true }));
  const nats = await startBenchNats(folder, releases);
  const redis = await startBenchRedis(folder, releases);
  const start = (name: string, file: string, env: Record<string, string> = {}, preload?: string): Part => {
    const nodeFlags = file.startsWith('services/') ? serviceNodeFlags : [];
    const part = new Part({ file, env, nodeFlags, logFile: join(folder, `${name}.log`), ...(preload && { preload }) });
    releases.add(name, () => part.stop());
    return part;
  };

  const upstream = start('upstream', 'test/bench/peers/upstream/scenario-upstream.ts');
  const upstreamPort = (await upstream.ask<{ port: number }>()).port;
  const bareEnv = { NATS_URL: nats.url, UPSTREAM: `http://127.0.0.1:${upstreamPort}` };
  const bareWorker = start('bare-worker', 'test/bench/bare/bare-worker.ts', bareEnv);
  await bareWorker.ask();
  const bareIngress = start('bare-ingress', 'test/bench/bare/bare-ingress.ts', bareEnv);
  const barePort = (await bareIngress.ask<{ port: number }>()).port;
  const key = await makeKey(redis.url, prefix);
  const port = await freePort();
  const common = {
    NATS_URL: nats.url,
    RTR_PREFIX: prefix,
    LOG_FORMAT: 'json',
    LOG_LEVEL: 'info',
  };
  const ingress = start(
    'ingress',
    'services/ingress/main.ts',
    { ...common, REDIS_URL: redis.url, PORT: String(port), ADMIN_PORT: String(await freePort()), LEAVE_MS: '0' },
    memoryProbe,
  );
  const workers: Part[] = [];
  const scaleTo = async (count: number): Promise<void> => {
    while (workers.length < count) {
      const worker = start(
        `worker-${workers.length}`,
        'services/gpu-worker/main.ts',
        {
          ...common,
          ENGINE_URL: `http://127.0.0.1:${upstreamPort}`,
          ENGINE_KIND: 'vllm',
          SLOTS: String(slotsPerWorker),
        },
        memoryProbe,
      );
      workers.push(worker);
    }
    await untilWorkers(`http://127.0.0.1:${port}/health`, 'gpu', count);
  };
  await scaleTo(1);
  return {
    through: { host: '127.0.0.1', port, path: '/api/openai/v1/chat/completions', key },
    direct: { host: '127.0.0.1', port: upstreamPort, path: '/v1/chat/completions', key },
    bare: { host: '127.0.0.1', port: barePort, path: '/v1/chat/completions', key },
    bareParts: { ingress: bareIngress, worker: bareWorker },
    ingress,
    workers,
    nats: nats.pid,
    redis: redis.pid,
    generator: start('generator', 'test/bench/load/load-generator.ts'),
    upstream,
    scaleTo,
  };
}
