import { Hedges } from '#shared/serving/hedging/hedges.ts';
import { Registry } from 'prom-client';
import { watchDependencies } from '#shared/core/metrics/service-registry.ts';
import { WorkerMetrics } from '#shared/worker/worker-metrics.ts';
import { watchProcesses } from '#services/cli-worker/process-set/process-set.ts';
import { watchServers } from '#services/tools-worker/mcp/mcp-link.ts';
import { watchFailingTools } from '#services/tools-worker/tool-pace.ts';
import { RequestMetrics } from '#services/ingress/metrics/request-metrics.ts';
import { watchIngress } from '#services/ingress/metrics/watch-ingress.ts';
import { watchQueue } from '#services/ingress/metrics/watch-queue.ts';
import { watchWorkers } from '#services/ingress/metrics/watch-workers.ts';

/** One metric as the code defines it. */
export interface DefinedMetric {
  name: string;
  help: string;
  type: string;
  labelNames: readonly string[];
}

/** The router's own metrics of an ingress and of a worker, without those that Node and the process have by themselves. */
export function definedMetrics(part: 'ingress' | 'worker'): DefinedMetric[] {
  const registry = new Registry();
  watchDependencies(registry, {});
  if (part === 'ingress') {
    const empty = { bytes: 0, count: 0, backlog: 0, dropped: 0, reserved: 0, uncommitted: 0, givenUp: 0 };
    void new RequestMetrics(registry, []);
    watchQueue(registry, () => []);
    watchWorkers(registry, () => []);
    watchIngress(registry, {
      held: empty,
      unread: empty,
      open: empty,
      ledger: empty,
      limits: empty,
      store: { isLost: false },
      hedges: new Hedges(),
      storer: { counts: { stored: 0, too_large: 0, failed: 0 } },
    });
  } else {
    void new WorkerMetrics(registry, () => ({ state: 'starting', slots: 0, busy: 0 }));
    watchProcesses(registry, () => ({ ready: 0, held: 0, starting: 0 }));
    watchServers(registry, () => []);
    watchFailingTools(registry, () => []);
  }
  // The library's declarations leave out what its objects have.
  return registry.getMetricsAsArray() as unknown as DefinedMetric[];
}
