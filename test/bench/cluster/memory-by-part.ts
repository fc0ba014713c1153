import type { ProbedMemory } from './memory-probe.ts';
import { rssBytes } from './process-usage.ts';
import type { BenchCluster } from './start-bench-cluster.ts';

/** Bytes of memory after a garbage collection: resident, on JavaScript's heap and outside of it. */
export interface PartMemory {
  rss: number;
  heap: number;
  external: number;
}

export type MemoryByPart = Record<'ingress' | 'nats' | 'worker', PartMemory>;

/** Makes every service collect its garbage and reads the memory that is left; workers are added up. NATS reports only resident memory. */
export async function memoryByPart({ ingress, workers, nats }: BenchCluster): Promise<MemoryByPart> {
  const [own, ...others] = await Promise.all([ingress, ...workers].map((part) => part.ask<ProbedMemory>({})));
  const sum = (parts: (ProbedMemory | undefined)[]): PartMemory => {
    const of = (kind: keyof ProbedMemory) => parts.reduce((total, part) => total + (part?.[kind] ?? 0), 0);
    return { rss: of('rss'), heap: of('heapUsed'), external: of('external') };
  };
  return { ingress: sum([own]), worker: sum(others), nats: { rss: rssBytes(nats), heap: 0, external: 0 } };
}
