import type { LoadResult } from './load.ts';
import { paceRequest } from './pace.ts';
import type { BenchCluster } from './start-bench-cluster.ts';

const whole = paceRequest(false, { firstMs: 0, everyMs: 0, tokens: 0 });
const stream = paceRequest(true, { firstMs: 0, everyMs: 0, tokens: 16 });

/** Sends so many requests through the cluster, 32 at a time and as fast as it can; one in four is a stream. */
export function sendMixed({ generator, through }: BenchCluster, requests: number): Promise<LoadResult> {
  return generator.ask<LoadResult>({
    kind: 'run',
    target: through,
    connections: 32,
    bodies: [whole, whole, whole, stream],
    seconds: 600,
    requests,
    rampSeconds: 0,
  });
}
