import { Hedges } from '#shared/serving/hedging/hedges.ts';
import { Registry } from 'prom-client';
import { registerFileMetrics } from '#shared/files/watch-files.ts';
import { registerReleaseGauge, registerDependencyGauges } from '#shared/core/metrics/service-registry.ts';
import { WorkerMetrics } from '#shared/worker/worker-metrics.ts';
import { addProcessMetrics } from '#services/cli-worker/process-set/process-set.ts';
import { addServerMetrics } from '#services/tools-worker/mcp/mcp-link.ts';
import { addFailingToolsMetric } from '#services/tools-worker/tool-breakers.ts';
import { RunnerMetrics, registerRunnerGauges } from '#services/batch-runner/runner-metrics.ts';
import { registerTryMetrics } from '#services/batch-runner/try-metrics.ts';
import { RequestMetrics } from '#services/ingress/metrics/request-metrics.ts';
import { createKeyedCounter } from '#services/ingress/idempotency/open-idempotency.ts';
import {
  createRecordingCounter,
  createTracedCounter,
  registerRecorderMetrics,
} from '#services/ingress/metrics/recording-metrics.ts';
import { registerBackgroundMetrics } from '#services/ingress/metrics/background-metrics.ts';
import { registerIngressMetrics } from '#services/ingress/metrics/ingress-metrics.ts';
import { registerQueueMetrics } from '#services/ingress/metrics/queue-metrics.ts';
import { registerWorkerMetrics } from '#services/ingress/metrics/worker-metrics.ts';

export interface DefinedMetric {
  name: string;
  help: string;
  type: string;
  labelNames: readonly string[];
}

/** The components with metrics of their own. */
export type MeasuredPart = 'ingress' | 'batch-runner' | 'worker';

/** Returns the router's own metrics of a component, without the default metrics of Node and the process. */
export function definedMetrics(part: MeasuredPart): DefinedMetric[] {
  const registry = new Registry();
  registerReleaseGauge(registry, part);
  registerDependencyGauges(registry, {});
  const files = { uploads: { stored: 0, refused: 0, failed: 0 }, storedBytes: 0, totalBytes: async () => 0 };
  if (part !== 'worker') registerFileMetrics(registry, files);
  if (part === 'ingress') {
    const empty = { bytes: 0, count: 0, backlog: 0, dropped: 0, reserved: 0, uncommitted: 0, givenUp: 0 };
    void new RequestMetrics(registry, []);
    registerQueueMetrics(registry, () => []);
    registerWorkerMetrics(registry, () => []);
    createKeyedCounter(registry);
    createRecordingCounter(registry);
    createTracedCounter(registry);
    registerRecorderMetrics(registry, { heldBytes: 0 });
    const none = async (): Promise<number> => 0;
    registerBackgroundMetrics(registry, { batches: none, responses: none, webhooks: none });
    registerIngressMetrics(registry, {
      heldBodies: empty,
      countKeptBytes: () => 0,
      unreadOutputs: empty,
      openRequests: empty,
      ledger: empty,
      limits: empty,
      store: { isLost: false },
      hedges: new Hedges(),
      storer: { counts: { stored: 0, too_large: 0, failed: 0 } },
    });
  } else if (part === 'batch-runner') {
    void new RunnerMetrics(registry);
    registerTryMetrics(registry, 'webhooks', async () => 0);
    registerTryMetrics(registry, 'mails', async () => 0);
    registerRunnerGauges(registry, {
      jobs: { countAll: () => Promise.reject(new Error('there are no queues')) },
      batches: { listOpen: () => Promise.resolve([]) },
      slots: { running: 0, preemptions: 0 },
      workers: new Map(),
    });
  } else {
    void new WorkerMetrics(registry, () => ({ state: 'starting', slots: 0, busy: 0 }));
    addProcessMetrics(registry, () => ({ ready: 0, held: 0, starting: 0 }));
    addServerMetrics(registry, () => []);
    addFailingToolsMetric(registry, () => []);
  }
  // The library's declarations leave out fields of its objects.
  return registry.getMetricsAsArray() as unknown as DefinedMetric[];
}
