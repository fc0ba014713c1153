import type { LoadResult } from '../../load/load.ts';
import { quantile } from '../../report/quantile.ts';
import type { Cell } from './cell.ts';
import { everydayRequest } from './request-body.ts';

const name = 'cold-keys';
const title = 'First requests of keys that no ingress has verified';
const route = { client: 'chat', upstream: 'chat' } as const;
const atOnceConnections = 32;

/** Measures the cost of the first request with a key, and how many keys per second can begin. Only systems with keys take part. */
export const coldKeys: Cell = {
  name,
  title,
  fresh: false,
  async measure({ running, generator, recorder, plan }) {
    for (const [side, system] of running) {
      const target = await system.target(route, 'unlimited');
      if (!target || !system.makeKeys) continue;
      const run = async (keys: readonly string[], connections: number): Promise<LoadResult> =>
        generator.ask<LoadResult>({
          kind: 'run',
          target,
          connections,
          bodies: [everydayRequest('bench-whole')],
          seconds: 60,
          requests: keys.length,
          rampSeconds: 0,
          keys,
          timeoutMs: 30_000,
        });
      const single = await run(await system.makeKeys(plan.coldKeys.single), 1);
      const atOnce = await run(await system.makeKeys(plan.coldKeys.atOnce), atOnceConnections);
      const [p50, p99] = [0.5, 0.99].map((share) => quantile(single.totalMs.toSorted(), share)) as [number, number];
      const values = { p50, p99, keysPerSecond: atOnce.requests / atOnce.seconds };
      recorder.add({ name, title }, side, values, { ...single.failures, ...atOnce.failures });
    }
  },
};
