import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadResult } from './load/load.ts';
import { memoryByPart, type MemoryByPart } from './cluster/memory-by-part.ts';
import { sendMixed } from './load/send-mixed.ts';
import { rssBytes } from './cluster/process-usage.ts';
import { slope } from './report/slope.ts';
import type { BenchCluster } from './cluster/start-bench-cluster.ts';

export interface Flatness {
  requests: number;
  failures: Record<string, number>;
  requestsPerSecond: number;
  /** After each quarter of the requests, garbage collected. */
  quarters: MemoryByPart[];
  /**
   * Bytes that a request leaves behind, by component: of resident memory (the line that fits the samples best) and of memory that
   * JavaScript holds after a garbage collection (between the first quarter's end and the last's).
   */
  growth: Record<'ingress' | 'nats' | 'worker', { rss: number; held: number }>;
}

const parts = ['ingress', 'nats', 'worker'] as const;

/** Milliseconds to wait: answers that have just ended are kept for a second or two, in case their end was lost on its way. */
const settleMs = 2_500;

/** Sends this number of requests and measures memory. The first quarter counts as warming up. */
export async function measureFlatness(cluster: BenchCluster, requests: number): Promise<Flatness> {
  const samples = { ingress: [] as number[], nats: [] as number[], worker: [] as number[] };
  const pids = { ingress: [cluster.ingress.pid], nats: [cluster.nats], worker: cluster.workers.map(({ pid }) => pid) };
  const results: LoadResult[] = [];
  const quarters: MemoryByPart[] = [];
  for (let quarter = 0; quarter < 4; quarter += 1) {
    const sampling = setInterval(() => {
      for (const part of parts) samples[part].push(pids[part].reduce((sum, pid) => sum + rssBytes(pid), 0));
    }, 500);
    try {
      results.push(await sendMixed(cluster, cluster.through, requests / 4));
    } finally {
      clearInterval(sampling);
    }
    if (quarter === 0) for (const part of parts) samples[part] = [];
    await sleep(settleMs);
    quarters.push(await memoryByPart(cluster));
  }
  const seconds = results.reduce((sum, result) => sum + result.seconds, 0);
  const growthOf = (part: (typeof parts)[number]) => ({
    rss: (slope(samples[part]) * samples[part].length) / (requests * 0.75),
    held: (held(quarters.at(-1), part) - held(quarters[0], part)) / (requests * 0.75),
  });
  return {
    requests: results.reduce((sum, result) => sum + result.requests, 0),
    failures: Object.assign({}, ...results.map((result) => result.failures)),
    requestsPerSecond: requests / seconds,
    quarters,
    growth: { ingress: growthOf('ingress'), nats: growthOf('nats'), worker: growthOf('worker') },
  };
}

function held(memory: MemoryByPart | undefined, part: (typeof parts)[number]): number {
  return memory ? memory[part].heap + memory[part].external : Number.NaN;
}
