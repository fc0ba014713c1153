import { Gauge, type Registry } from 'prom-client';

export type CountOpen = () => Promise<number>;

/**
 * Adds the gauge of unfinished background work in the cluster. Batch runners report this work in more detail, but this gauge exists even if
 * no runner does.
 * @param counts functions that count the work, by kind of work; they may reject while Redis is unreachable
 */
export function registerBackgroundMetrics(registry: Registry, counts: Readonly<Record<string, CountOpen>>): void {
  const unfinished: Gauge<'kind'> = new Gauge({
    name: 'rtr_background_unfinished',
    help: 'Unfinished batches and background responses, and webhooks with undelivered events, even if no batch runner is running; absent while Redis is unreachable',
    labelNames: ['kind'],
    registers: [registry],
    collect: async () => {
      const updates = Object.entries(counts).map(async ([kind, countOpen]) => {
        const count = await countOpen().catch(() => undefined);
        if (count === undefined) unfinished.remove({ kind });
        else unfinished.set({ kind }, count);
      });
      await Promise.all(updates);
    },
  });
}
