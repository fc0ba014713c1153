import { Gauge, type Registry } from 'prom-client';

/**
 * Adds the gauge of the batches that nobody has finished. Batch runners report them in more detail; this one is there without any runner.
 * @param countOpen how many there are; it may reject while Redis is away
 */
export function watchBatches(registry: Registry, countOpen: () => Promise<number>): void {
  const unfinished: Gauge = new Gauge({
    name: 'rtr_batches_unfinished',
    help: 'Batches of the cluster that are not over, whether or not a batch runner is there; absent while Redis is away',
    registers: [registry],
    collect: async () => {
      const count = await countOpen().catch(() => undefined);
      if (count === undefined) unfinished.remove();
      else unfinished.set(count);
    },
  });
}
