import { Gauge, Registry, collectDefaultMetrics } from 'prom-client';
import { version } from '../version.ts';

/**
 * The metrics of one process: Node's own (memory, CPU, garbage collection, event loop lag), and the service and release that
 * it runs.
 * @param service the service's name, as in its log lines
 */
export function createServiceRegistry(service: string): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'rtr_build_info',
    help: 'Always 1; the labels name the service and its release',
    labelNames: ['service', 'version'],
    registers: [registry],
  }).set({ service, version }, 1);
  return registry;
}
