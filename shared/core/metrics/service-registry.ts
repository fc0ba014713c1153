import { Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { version } from '../version.ts';

/**
 * The metrics of one process: what Node tells of memory, CPU, garbage collection and the lag of its event loop, and which
 * release of which part this is.
 * @param service the part, as its log lines name it
 */
export function createServiceRegistry(service: string): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'rtr_build_info',
    help: 'Always 1: which part this is, and of which release',
    labelNames: ['service', 'version'],
    registers: [registry],
  }).set({ service, version }, 1);
  return registry;
}
