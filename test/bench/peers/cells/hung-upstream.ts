import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadResult } from '../../load/load.ts';
import { startUpstream } from '../../cluster/start-core.ts';
import { quantile } from '../../report/quantile.ts';
import type { System, SystemKind } from '../systems/system.ts';
import { scenarios } from '../upstream/scenarios.ts';
import { measureFresh, rotated, type Cell, type PeerBench } from './cell.ts';
import { manyBodies } from './request-body.ts';

const name = 'hung-upstream';
const title = 'One of four upstreams hangs, 32 streams at a time';

const upstreamCount = 4;
const connections = 32;
/** Seconds of load before the upstream hangs. */
const healthySeconds = 2;
const timeoutMs = 15_000;

/** Measures what clients see when one upstream stops in the middle of load: it accepts connections and answers nothing. */
export const hungUpstream: Cell = {
  name,
  title,
  fresh: true,
  async measure(bench, round) {
    const kinds = bench.kinds.filter(({ avoidsHungUpstreams }) => avoidsHungUpstreams);
    const upstreams = await Promise.all(Array.from({ length: upstreamCount }, () => startUpstream(bench.startPart)));
    try {
      await measureFresh(
        bench,
        { name, title },
        rotated(kinds, round),
        () => ({ upstreams: upstreams.map(({ port }) => port), streams: connections }),
        (kind, system) => measureOne(bench, kind, system, upstreams[0]?.part.pid ?? 0),
      );
    } finally {
      await Promise.all(upstreams.map(({ part }) => part.stop()));
    }
  },
};

async function measureOne(bench: PeerBench, kind: SystemKind, system: System, upstream: number): Promise<void> {
  const target = await system.target({ client: 'chat', upstream: 'chat' }, 'unlimited');
  if (!target) return;
  const load = (seconds: number): Promise<LoadResult> =>
    bench.generator.ask<LoadResult>({
      kind: 'run',
      target,
      connections,
      bodies: manyBodies('bench-short'),
      seconds,
      requests: Number.POSITIVE_INFINITY,
      rampSeconds: 0,
      texts: scenarios['bench-short'].texts,
      timeoutMs,
    });
  await load(healthySeconds);
  const running = load(healthySeconds + bench.plan.hungSeconds);
  await sleep(healthySeconds * 1000);
  process.kill(upstream, 'SIGSTOP');
  try {
    const { requests, firstMs, totalMs, failures } = await running;
    const sorted = firstMs.toSorted();
    const values = {
      answered: requests,
      failed: Object.values(failures).reduce((sum, count) => sum + count, 0),
      p50: quantile(sorted, 0.5),
      p99: quantile(sorted, 0.99),
      longest: totalMs.reduce((most, each) => Math.max(most, each), 0),
    };
    bench.recorder.add({ name, title }, kind.name, values, failures);
  } finally {
    // A stopped process does not end on SIGTERM.
    process.kill(upstream, 'SIGCONT');
  }
}
