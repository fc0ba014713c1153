import { until } from '../../helpers/until.ts';

/** Waits until an ingress knows so many workers of a tier. */
export function untilWorkers(healthUrl: string, tier: 'gpu' | 'cloud', count: number): Promise<void> {
  return until(async () => {
    const health = (await (await fetch(healthUrl)).json()) as { workers: Record<string, number> };
    return health.workers[tier] === count;
  });
}
