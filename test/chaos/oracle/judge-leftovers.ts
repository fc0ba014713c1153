import type { ChaosCluster } from '../cluster/chaos-cluster.ts';
import { until } from '../../helpers/until.ts';
import type { Violation } from './violation.ts';

/** Waits until reservations, open requests and held bodies are gone, and returns those that are left after `ms`. */
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
