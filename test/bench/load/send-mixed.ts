import type { LoadResult, LoadTarget } from './load.ts';
import { everydayRequest } from '../peers/cells/request-body.ts';
import type { BenchCluster } from '../cluster/start-bench-cluster.ts';

const whole = everydayRequest('bench-whole');
const stream = everydayRequest('bench-burst');

/** Sends this number of requests to a target, 32 at a time and as fast as possible; one in four is a stream. */
export function sendMixed({ generator }: BenchCluster, target: LoadTarget, requests: number): Promise<LoadResult> {
  return generator.ask<LoadResult>({
    kind: 'run',
    target,
    connections: 32,
    bodies: [whole, whole, whole, stream],
    seconds: 600,
    requests,
    rampSeconds: 0,
  });
}
