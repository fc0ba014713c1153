import { Gauge, type Registry } from 'prom-client';

/** Counts what nobody has finished in the cluster. May reject while Redis is away. */
export type CountOpen = () => Promise<number>;

/**
 * Adds the gauge of the background work that nobody has finished. Batch runners report theirs in more detail; this one is there without any
 * runner.
 * @param counts of each kind of work
 */
export function watchBackground(registry: Registry, counts: Readonly<Record<string, CountOpen>>): void {
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
