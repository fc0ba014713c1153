import { setTimeout as sleep } from 'node:timers/promises';
import { sendProbe, type Phase } from './measure-phase.ts';
import { untilKnown, type ScaleCluster, type ScaleSize } from './scale-cluster.ts';
import { trafficBetween } from './scale-nats.ts';
import { quantile } from '../report/quantile.ts';
import type { IngressesAnswer } from './orders.ts';

/** Milliseconds after a restart of NATS within which a request must be answered. */
const backMs = 60_000;

export interface PhaseLimits {
  seconds: number;
  maxRate: number;
  /** Requests that wait in the last phase; computed from the rate if left out. */
  queued: number | undefined;
}

/** Returns the phases for a cluster of this size, in their order. */
export function phasesOf(
  { ingresses, workers, slots, answerMs }: ScaleSize,
  { seconds, maxRate, queued }: PhaseLimits,
): Phase[] {
  // The load that all slots can serve, of which the machine can carry only a part.
  const capacity = (workers * slots * 1_000) / answerMs;
  const rate = Math.min(maxRate, capacity);
  const half = Math.floor(workers / 2);
  return [
    {
      name: 'idle',
      probeEveryMs: 5_000,
      run: async (cluster) => {
        const before = await cluster.nats.traffic();
        const begin = performance.now();
        await sleep(seconds * 1_000);
        const after = await cluster.nats.traffic();
        // A worker's heartbeat and an ingress's stats reach all ingress nodes each second.
        const due = ((workers + ingresses) * ingresses * (performance.now() - begin)) / 1_000;
        const share = Math.min(1, trafficBetween(before, after).out_msgs / due);
        return { notes: `${Math.round(share * 100)} % of the heartbeats and stats due` };
      },
    },
    {
      name: 'load',
      run: async (cluster) => {
        const answer = await cluster.askIngresses({ kind: 'load', perSecond: rate, seconds });
        return { notes: `${Math.round(rate)} of ${Math.round(capacity)} requests/s; ${describe(answer)}` };
      },
    },
    {
      name: 'NATS restarts',
      run: async (cluster) => {
        const begin = performance.now();
        const isBack = cluster.nats.restart();
        let outcome = await sendProbe(cluster);
        while (typeof outcome === 'string') {
          if (performance.now() - begin > backMs) throw new Error(`no request is answered after a restart: ${outcome}`);
          await sleep(50);
          outcome = await sendProbe(cluster);
        }
        const recoveredMs = Math.max(0, performance.now() - begin - answerMs);
        await isBack;
        await sleep(5_000);
        return { recoveredMs };
      },
    },
    {
      name: 'half of the workers are lost',
      run: (cluster) => changeWorkers(cluster, -half, () => cluster.askWorkers({ kind: 'end', count: half })),
    },
    { name: 'as many come', run: (cluster) => changeWorkers(cluster, half, () => cluster.addWorkers(half)) },
    {
      name: 'many wait',
      run: async (cluster) => {
        const count = queued ?? Math.min(100_000, Math.round(capacity * seconds * 2), maxRate * seconds * 4);
        return { notes: describe(await cluster.askIngresses({ kind: 'queue', count, seconds })) };
      },
    },
  ];
}

/** Changes the number of workers, and waits until the ingress lists as many more. */
async function changeWorkers(cluster: ScaleCluster, more: number, change: () => Promise<unknown>) {
  const known = await cluster.knownWorkers();
  const begin = performance.now();
  await change();
  await untilKnown(cluster, (now) => now === known + more);
  return { recoveredMs: performance.now() - begin };
}

function describe({ sent, done, failed, routeMs }: IngressesAnswer): string {
  const sorted = routeMs.toSorted((one, other) => one - other);
  const failures = Object.entries(failed).map(([code, count]) => `${count} ${code}`);
  const route = [0.5, 0.99].map((share) => `${quantile(sorted, share).toFixed(1)} ms`).join(' / ');
  return [`${done} of ${sent} served`, `claimed after ${route}`, ...failures].join(', ');
}
