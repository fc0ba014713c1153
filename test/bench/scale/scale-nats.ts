import { z } from 'zod';
import { startNatsCluster } from '../../helpers/servers/start-nats-cluster.ts';
import { cpuMs } from '../cluster/process-usage.ts';

/** The messages and bytes that a NATS server has carried so far, from its monitor. */
const traffic = z.object({ out_msgs: z.number(), out_bytes: z.number(), slow_consumers: z.number() });

type Traffic = z.infer<typeof traffic> & { cpu: number };
type ServerTraffic = Traffic & { pid: number };

/**
 * Returns the messages that servers have carried and the CPU time that they have taken between two readings. A server that was started
 * again in between has counted from zero.
 */
export function trafficBetween(before: readonly ServerTraffic[], after: readonly ServerTraffic[]): Traffic {
  const sum: Traffic = { out_msgs: 0, out_bytes: 0, slow_consumers: 0, cpu: 0 };
  for (const now of after) {
    const then = before.find(({ pid }) => pid === now.pid);
    for (const name of Object.keys(sum) as (keyof Traffic)[]) sum[name] += now[name] - (then?.[name] ?? 0);
  }
  return sum;
}

/** Starts one server, or three that keep each queue together. Limits as in `deploy/nats.conf`. */
export async function startScaleNats(count: 1 | 3) {
  const names = ['one', 'two', 'three'].slice(0, count);
  const { ports, monitors, pid, kill, restart, whole, stop } = await startNatsCluster({ names, limits: [] });
  await whole();
  const ask = async (name: string): Promise<unknown> => (await fetch(`http://127.0.0.1:${monitors[name]}/varz`)).json();
  return {
    url: Object.values(ports)
      .map((port) => `nats://127.0.0.1:${port}`)
      .join(','),
    pids: () => names.map((name) => pid(name) ?? 0),
    /** Returns the messages of each server since its start, and its CPU time. */
    traffic: () =>
      Promise.all(
        names.map(async (name) => {
          const carried = traffic.parse(await ask(name));
          const id = pid(name) ?? 0;
          return { ...carried, pid: id, cpu: cpuMs(id) };
        }),
      ),
    version: async () => z.object({ version: z.string() }).parse(await ask('one')).version,
    /** Ends one server as a crash does, and starts it again. */
    restart: async () => {
      kill('one');
      await restart('one');
      await whole();
    },
    stop,
  };
}

export type ScaleNats = Awaited<ReturnType<typeof startScaleNats>>;
