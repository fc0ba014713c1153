import { readdirSync, readFileSync } from 'node:fs';
import type { ChaosCluster } from '../cluster/chaos-cluster.ts';
import { until } from '../../helpers/until.ts';
import type { Violation } from './violation.ts';

/** What a process holds. */
export interface Footprint {
  name: string;
  pid: number;
  /** Resident memory in MiB. */
  memory: number;
  /** Open file descriptors. */
  handles: number;
}

/** Growth that a run may leave behind: memory that Node has not returned yet, connections that are kept open. */
const growth = { factor: 2, memory: 64, handles: 40 };

/** What every ingress and worker holds now. Empty where `/proc` does not tell. */
export function footprints(cluster: ChaosCluster): Footprint[] {
  if (process.platform !== 'linux') return [];
  return [...cluster.ingresses, ...cluster.workers].flatMap(({ part }) => {
    const pid = part.pid();
    if (pid === undefined) return [];
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const memory = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) / 1024;
    return [{ name: part.name, pid, memory, handles: readdirSync(`/proc/${pid}/fd`).length }];
  });
}

/** Judges that parts which run since the first footprint hold about as much at the second. */
export function judgeGrowth(before: readonly Footprint[], after: readonly Footprint[]): Violation[] {
  return before.flatMap(({ name, pid, memory, handles }): Violation[] => {
    const now = after.find((one) => one.pid === pid);
    if (!now) return [];
    const leftover = (detail: string): Violation => ({ rule: 'leftover', id: name, detail });
    return [
      ...(now.memory > memory * growth.factor + growth.memory
        ? [leftover(`${Math.round(now.memory)} MiB after ${Math.round(memory)} MiB`)]
        : []),
      ...(now.handles > handles + growth.handles ? [leftover(`${now.handles} handles after ${handles}`)] : []),
    ];
  });
}

/** Waits until reservations, open requests and held bodies are gone, and returns what is left after `ms`. */
export async function judgeLeftovers(cluster: ChaosCluster, ms: number): Promise<Violation[]> {
  let left: Violation[] = [];
  const look = async (): Promise<boolean> => {
    left = [];
    const add = (id: string, detail: string): void => void left.push({ rule: 'leftover', id, detail });
    const { active, tokens } = await cluster.reserved();
    if (active !== 0 || tokens !== 0) add('redis', `reservations of ${active} requests and ${tokens} tokens`);
    for (const { part, adminUrl } of cluster.ingresses) {
      const text = await (await fetch(`${adminUrl}/metrics`)).text();
      for (const name of ['rtr_open_requests', 'rtr_held_body_bytes', 'rtr_usage_backlog', 'rtr_limits_uncommitted']) {
        const value = Number(new RegExp(String.raw`^${name}(?:\{[^}]*\})? (\S+)`, 'm').exec(text)?.[1]);
        if (value !== 0) add(part.name, `${name} ${value}`);
      }
    }
    return left.length === 0;
  };
  await until(look, ms).catch((error: unknown) => {
    if (left.length === 0) throw error;
  });
  return left;
}
