import { quantile } from './report/quantile.ts';
import type { LoadOrder, LoadResult } from './load/load.ts';
import { cpuMs } from './cluster/process-usage.ts';
import { watchOthers } from './peers/systems/machine.ts';
import type { BenchCluster } from './cluster/start-bench-cluster.ts';

export interface CompareOptions {
  body: string;
  connections: number;
  /** Seconds of load in each round, on each side. */
  seconds: number;
  rampSeconds: number;
  rounds: number;
}

/** The same load on the fake upstream itself, through the bare prototype, and through the cluster. */
export interface Comparison {
  direct: Side;
  bare: Side;
  through: Side;
  /** CPU milliseconds for one request through the cluster, by component, over all rounds. */
  cpuMsPerRequest: Record<ClusterPart, number>;
  /** The same for the bare prototype, over all its components. */
  bareCpuMsPerRequest: number;
  /** Share of the machine's CPU time, 0 to 1, that programs outside of the bench took meanwhile. */
  takenByOthers: number;
}

type ClusterPart = 'ingress' | 'nats' | 'worker' | 'redis';
const clusterParts: readonly ClusterPart[] = ['ingress', 'nats', 'worker', 'redis'];

export interface Side {
  requests: number;
  failures: Record<string, number>;
  requestsPerSecond: number;
  firstMs: { p50: number; p99: number };
  totalMs: { p50: number; p99: number };
}

/** Measures all sides in turn, so that a machine that gets slower or faster meanwhile favours none. */
export async function compare(cluster: BenchCluster, options: CompareOptions): Promise<Comparison> {
  const { body, rounds, ...load } = options;
  const order = { kind: 'run', bodies: [body], requests: Number.POSITIVE_INFINITY, ...load } as const;
  const run = (order: LoadOrder) => cluster.generator.ask<LoadResult>(order);
  const results: Record<'direct' | 'bare' | 'through', LoadResult[]> = { direct: [], bare: [], through: [] };
  const spent = { ingress: 0, nats: 0, worker: 0, redis: 0 };
  let spentBare = 0;
  for (const target of [cluster.bare, cluster.through]) await run({ ...order, target, seconds: load.rampSeconds + 1 });
  const others = watchOthers();
  for (let round = 0; round < rounds; round += 1) {
    results.direct.push(await run({ ...order, target: cluster.direct }));
    const beforeBare = bareCpu(cluster);
    results.bare.push(await run({ ...order, target: cluster.bare }));
    spentBare += bareCpu(cluster) - beforeBare;
    const before = cpuByPart(cluster);
    results.through.push(await run({ ...order, target: cluster.through }));
    const after = cpuByPart(cluster);
    for (const part of clusterParts) spent[part] += after[part] - before[part];
  }
  const [direct, bare, through] = [results.direct, results.bare, results.through].map(summarize) as [Side, Side, Side];
  const perRequest = clusterParts.map((part) => [part, spent[part] / through.requests]);
  return {
    direct,
    bare,
    through,
    cpuMsPerRequest: Object.fromEntries(perRequest) as Comparison['cpuMsPerRequest'],
    bareCpuMsPerRequest: spentBare / bare.requests,
    takenByOthers: others(),
  };
}

function cpuByPart({ ingress, nats, workers, redis }: BenchCluster): Record<ClusterPart, number> {
  return {
    ingress: cpuMs(ingress.pid),
    nats: cpuMs(nats),
    worker: workers.reduce((sum, { pid }) => sum + cpuMs(pid), 0),
    redis: cpuMs(redis),
  };
}

function bareCpu({ nats, bareParts: { ingress, worker } }: BenchCluster): number {
  return cpuMs(nats) + cpuMs(ingress.pid) + cpuMs(worker.pid);
}

function summarize(results: readonly LoadResult[]): Side {
  const requests = results.reduce((sum, result) => sum + result.requests, 0);
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0);
  const failures: Record<string, number> = {};
  for (const [reason, count] of results.flatMap((result) => Object.entries(result.failures)))
    failures[reason] = (failures[reason] ?? 0) + count;
  const first = sorted(results.map(({ firstMs }) => firstMs));
  const total = sorted(results.map(({ totalMs }) => totalMs));
  return {
    requests,
    failures,
    requestsPerSecond: requests / seconds,
    firstMs: { p50: quantile(first, 0.5), p99: quantile(first, 0.99) },
    totalMs: { p50: quantile(total, 0.5), p99: quantile(total, 0.99) },
  };
}

function sorted(parts: readonly Float64Array[]): Float64Array {
  return Float64Array.from(parts.flatMap((part) => [...part])).sort();
}
