import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadResult } from './load/load.ts';
import { memoryByPart, type MemoryByPart, type PartMemory } from './cluster/memory-by-part.ts';
import { everydayRequest } from './peers/cells/request-body.ts';
import type { BenchCluster } from './cluster/start-bench-cluster.ts';
import { slotsPerWorker } from './cluster/start-core.ts';

/** Bytes per open stream, by component. */
export interface OpenStreams {
  streams: number;
  failures: Record<string, number>;
  bytesPerStream: MemoryByPart;
  /** Resident bytes per stream, over all components. */
  total: number;
}

/** Milliseconds for timers and buffers of earlier work to go. */
const settleMs = 3_000;

/** Opens this number of streams, each slow enough to stay open, and compares the memory of all components with that before. */
export async function measureOpenStreams(cluster: BenchCluster, streams: number): Promise<OpenStreams> {
  const { generator, through } = cluster;
  await cluster.scaleTo(Math.ceil((streams * 1.02) / slotsPerWorker));
  await warmUp(cluster);
  await sleep(settleMs);
  const before = await memoryByPart(cluster);
  const body = everydayRequest('bench-slow');
  const opened = await generator.ask<LoadResult>({ kind: 'open', target: through, connections: streams, body });
  await sleep(settleMs);
  const after = await memoryByPart(cluster);
  await generator.ask<LoadResult>({ kind: 'close' });
  const of = (part: keyof MemoryByPart): PartMemory => perStream(before[part], after[part], streams);
  const [ingress, nats, worker] = [of('ingress'), of('nats'), of('worker')];
  const total = ingress.rss + nats.rss + worker.rss;
  return { streams, failures: opened.failures, bytesPerStream: { ingress, nats, worker }, total };
}

/** Makes every worker do its everyday work for a moment, so that code is compiled and first buffers are no stream's cost. */
async function warmUp({ generator, through, workers }: BenchCluster): Promise<void> {
  await generator.ask<LoadResult>({
    kind: 'run',
    target: through,
    connections: 64 * workers.length,
    bodies: [everydayRequest('bench-together')],
    seconds: 5,
    requests: Number.POSITIVE_INFINITY,
    rampSeconds: 1,
  });
}

function perStream(before: PartMemory, after: PartMemory, streams: number): PartMemory {
  return {
    rss: (after.rss - before.rss) / streams,
    heap: (after.heap - before.heap) / streams,
    external: (after.external - before.external) / streams,
  };
}
