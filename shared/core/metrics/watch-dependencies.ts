import { Gauge, type Registry } from 'prom-client';

/**
 * The servers that a process depends on, by name, and how each is asked: resolves with the milliseconds that its answer took,
 * undefined when it gives none. Settles within a second or so, never rejects. No promise at all: it has not come to the point
 * of connecting to it, so nothing can be said.
 */
export type Dependencies = Readonly<Record<string, () => Promise<number | undefined> | undefined>>;

/** Adds whether each dependency answers, and how long it takes. They are asked when somebody asks for the metrics. */
export function watchDependencies(registry: Registry, dependencies: Dependencies): void {
  const labelNames = ['dependency'] as const;
  const registers = [registry];
  let looking: Promise<void> | undefined;
  const collect = (): Promise<void> => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };
  const up = new Gauge({
    name: 'rtr_dependency_up',
    help: 'Whether a dependency (nats, redis) answers: 1 or 0; absent before it was first needed',
    labelNames,
    registers,
    collect,
  });
  const roundTrip = new Gauge({
    name: 'rtr_dependency_round_trip_seconds',
    help: 'How long a dependency (nats, redis) took to answer just now; absent while it does not',
    labelNames,
    registers,
    collect,
  });

  async function look(): Promise<void> {
    await Promise.all(
      Object.entries(dependencies).map(async ([dependency, ask]) => {
        const answer = ask();
        if (!answer) return;
        const ms = await answer;
        up.set({ dependency }, ms === undefined ? 0 : 1);
        if (ms === undefined) roundTrip.remove({ dependency });
        else roundTrip.set({ dependency }, ms / 1000);
      }),
    );
  }
}
