import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until an ingress knows so many workers of a tier.
 * @throws Error after 30 seconds
 */
export async function untilWorkers(healthUrl: string, tier: 'gpu' | 'cloud', count: number): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (performance.now() < deadline) {
    const answer = await fetch(healthUrl).catch(() => undefined);
    const health = answer && ((await answer.json()) as { workers: Record<string, number> });
    if (health?.workers[tier] === count) return;
    await sleep(50);
  }
  throw new Error(`the ingress does not know ${count} workers after 30 seconds`);
}
