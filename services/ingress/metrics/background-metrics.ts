import { Gauge, type Registry } from 'prom-client';

export type CountOpen = () => Promise<number>;

/**
 * Adds the gauge of unfinished background work in the cluster. Batch runners report this work in more detail, but this gauge exists even if
 * no runner does.
 * @param counts count function by kind of work; may reject while Redis is unreachable
 */
export function registerBackgroundMetrics(registry: Registry, counts: Readonly<Record<string, CountOpen>>): void {
  const unfinished: Gauge<'kind'> = new Gauge({
    name: 'rtr_background_unfinished',
    help: 'Batches and background responses that are not over, and webhooks with events that are not delivered, whether or not a batch runner is there; absent while Redis is away',
    labelNames: ['kind'],
    registers: [registry],
    collect: async () => {
      const looks = Object.entries(counts).map(async ([kind, countOpen]) => {
        const count = await countOpen().catch(() => undefined);
        if (count === undefined) unfinished.remove({ kind });
        else unfinished.set({ kind }, count);
      });
      await Promise.all(looks);
    },
  });
}
