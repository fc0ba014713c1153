import { Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { version } from '../version.ts';

/**
 * Creates the metrics of one process: Node's own (memory, CPU, garbage collection, event loop lag), and the gauge `rtr_build_info`.
 * @param service the service's name, as in its log lines
 */
export function createServiceRegistry(service: string): Registry {
  const registry = new Registry();
  // The monitor runs a timer at this interval. At the default, ten milliseconds, the timer takes half of an idle process's CPU time.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 20 });
  registerReleaseGauge(registry, service);
  return registry;
}

/** Adds the gauge `rtr_build_info`, which names the service and its release. */
export function registerReleaseGauge(registry: Registry, service: string): void {
  new Gauge({
    name: 'rtr_build_info',
    help: 'Always 1; the labels name the service and its release',
    labelNames: ['service', 'version'],
    registers: [registry],
  }).set({ service, version }, 1);
}

/**
 * The servers that a process depends on, by name. Each function pings one server and resolves with the round trip in milliseconds, or with
 * undefined if the server does not answer or does not work. It settles within about a second and never rejects. While the process has not
 * connected to that server yet, the function returns undefined instead of a promise.
 */
export type Dependencies = Readonly<Record<string, () => Promise<number | undefined> | undefined>>;

/** Adds gauges that show whether and how fast each dependency answers. The dependencies are pinged when the metrics are scraped. */
export function registerDependencyGauges(registry: Registry, dependencies: Dependencies): void {
  const labelNames = ['dependency'] as const;
  const registers = [registry];
  let currentPing: Promise<void> | undefined;
  const collect = (): Promise<void> => {
    currentPing ??= pingAll().finally(() => {
      currentPing = undefined;
    });
    return currentPing;
  };
  const up = new Gauge({
    name: 'rtr_dependency_up',
    help: 'Whether a dependency (nats, redis) works: 1, or 0 if it does not answer or Redis refuses writes; absent until it is first needed',
    labelNames,
    registers,
    collect,
  });
  const roundTrip = new Gauge({
    name: 'rtr_dependency_round_trip_seconds',
    help: 'Round trip to a dependency (nats, redis), measured at the scrape; absent while it does not work',
    labelNames,
    registers,
    collect,
  });

  async function pingAll(): Promise<void> {
    await Promise.all(
      Object.entries(dependencies).map(async ([dependency, ping]) => {
        const answer = ping();
        if (!answer) return;
        const ms = await answer;
        up.set({ dependency }, ms === undefined ? 0 : 1);
        if (ms === undefined) roundTrip.remove({ dependency });
        else roundTrip.set({ dependency }, ms / 1000);
      }),
    );
  }
}
