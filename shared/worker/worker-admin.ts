import { isFailing } from '#shared/broker/contract/announcement.ts';
import type { Logger } from '#shared/core/log.ts';
import { createAdminServer, type Readiness } from '#shared/core/admin-server.ts';
import { listen } from '#shared/core/listen.ts';
import { createServiceRegistry, registerDependencyGauges } from '#shared/core/metrics/service-registry.ts';
import { WorkerMetrics, type WorkerStatus } from './worker-metrics.ts';
import type { Registry } from 'prom-client';
import type { Releases } from '#shared/core/release.ts';
import { version } from '#shared/core/version.ts';

export interface AdministeredWorker {
  status: Omit<WorkerStatus, 'state'> & { accepting: boolean; draining: boolean; reason?: string | undefined };
}

export interface AdministeredBroker {
  connected: boolean;
  measureRoundTripMs(): Promise<number | undefined>;
}

/** A worker's metrics, and its admin port if one is set. */
export interface WorkerAdmin {
  registry: Registry;
  metrics: WorkerMetrics;
  /** Sets the worker whose status is reported, and its connection to the broker. Until then, the reported state is `starting`. */
  follow(worker: AdministeredWorker, broker: AdministeredBroker): void;
}

/**
 * Opens a worker's admin port. Call it first, so that the worker is visible while it waits for its engine and the broker.
 * @param service the service's name, as in its log lines
 * @throws the system's error if the port is taken
 */
export async function openWorkerAdmin(
  service: string,
  config: { ADMIN_PORT?: number | undefined; ADMIN_HOST: string },
  log: Logger,
  releases: Releases,
): Promise<WorkerAdmin> {
  let followed: { worker: AdministeredWorker; broker: AdministeredBroker } | undefined;
  const readStatus = (): WorkerStatus => {
    if (!followed) return { state: 'starting', slots: 0, busy: 0 };
    const { worker, broker } = followed;
    const { slots, busy, accepting, draining, reason } = worker.status;
    const jobState = isFailing(reason) ? 'failing' : accepting ? 'serving' : 'paused';
    const state = draining ? 'draining' : jobState;
    return { state: broker.connected ? state : 'offline', slots, busy, reason };
  };
  const readHealth = (): Readiness => {
    const { state, slots, busy, reason } = readStatus();
    return {
      ready: state === 'serving',
      facts: {
        status: state,
        version,
        nats: followed?.broker.connected ?? false,
        slots,
        busy,
        ...(reason !== undefined && { reason }),
      },
    };
  };
  const registry = createServiceRegistry(service);
  const metrics = new WorkerMetrics(registry, readStatus);
  // A worker that waits for its engine is not connected to the broker yet, which must not raise an alert.
  registerDependencyGauges(registry, { nats: () => followed?.broker.measureRoundTripMs() });
  if (config.ADMIN_PORT !== undefined) {
    const server = createAdminServer({ log, registry, health: readHealth });
    await listen(server, config.ADMIN_PORT, config.ADMIN_HOST, releases);
    log.info({ admin: server.address() }, 'the admin port is open');
  }
  return {
    registry,
    metrics,
    follow: (worker, broker) => {
      followed = { worker, broker };
    },
  };
}
