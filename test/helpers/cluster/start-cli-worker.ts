import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { inject } from 'vitest';
import { type Cluster } from './start-cluster.ts';
import { until } from '../until.ts';
import { startProcess, type ServiceProcess } from '../processes/start-process.ts';

export interface CliWorker {
  service: ServiceProcess;
  /** Returns the ids of all processes that descend from the worker, without its guard. */
  processes(): number[];
  stop(): Promise<void>;
}

/** Starts a cli-worker in a cluster and waits until the ingress lists it, which may need the start of a process. */
export async function startCliWorker(cluster: Cluster, environment: Record<string, string>): Promise<CliWorker> {
  const id = `c${randomBytes(4).toString('hex')}`;
  const service = startProcess('services/cli-worker/main.ts', {
    NATS_URL: inject('natsUrl'),
    RTR_PREFIX: cluster.prefix,
    WORKER_ID: id,
    LOG_LEVEL: 'debug',
    ...environment,
  });
  const hasJoined = (): boolean =>
    cluster.ingress.lines.some(({ msg, worker }) => msg === 'worker joined' && worker === id);
  await until(hasJoined, 60_000);
  return {
    service,
    processes: () => (service.child.pid === undefined ? [] : descendants(service.child.pid)),
    stop: async () => {
      await service.stop();
    },
  };
}

/** Returns the environment with which a process was started, as Linux reports it. */
export function environmentOf(pid: number): Record<string, string> {
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
  return Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/s, 2) as [string, string]));
}

/** Whether a process with this id runs. A zombie does not count: in a container it may stay. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return process.platform !== 'linux' || !statOf(String(pid)).isDead;
}

/** Returns the ids of all processes that descend from a process, without guards. */
export function descendants(pid: number): number[] {
  const parents = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const { parent, isGuard, isDead } = statOf(name);
    if (!isGuard && !isDead) parents.set(parent, [...(parents.get(parent) ?? []), Number(name)]);
  }
  const below = (id: number): number[] => (parents.get(id) ?? []).flatMap((child) => [child, ...below(child)]);
  return below(pid);
}

function statOf(name: string): { parent: number; isGuard: boolean; isDead: boolean } {
  try {
    const [state, parent] = readFileSync(`/proc/${name}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    const isGuard = readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('\0guard\0');
    return { parent: Number(parent), isGuard, isDead: state === 'Z' };
  } catch {
    // It ended between the two readings.
    return { parent: 0, isGuard: false, isDead: true };
  }
}
