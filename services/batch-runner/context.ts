import { randomBytes } from 'node:crypto';
import { UnfinishedWork } from '#shared/store/redis/unfinished-work.ts';
import type { BackgroundAccess } from '#shared/background/background-access.ts';
import type { BackgroundQueue } from '#shared/background/background-job.ts';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import type { QueueWorker } from '#shared/background/background-worker.ts';
import { createAdminServer, type Readiness } from '#shared/core/admin-server.ts';
import { listen } from '#shared/core/listen.ts';
import { loadConfig, readCertificates, type Environment } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import { createServiceRegistry } from '#shared/core/metrics/service-registry.ts';
import type { Releases } from '#shared/core/release.ts';
import { version } from '#shared/core/version.ts';
import { openServing } from '#shared/serving/open/open-serving.ts';
import { readDependencies } from '#shared/serving/open/read-dependencies.ts';
import { batchRunnerConfig } from './config.ts';
import { HeavyWork } from './heavy-work.ts';
import { RunnerMetrics } from './runner-metrics.ts';

/** The parts that all work of a batch runner shares. */
export type RunnerContext = Awaited<ReturnType<typeof openContext>>;

/**
 * Reads the settings, and opens what all work shares: log, metrics, the admin port, and the connections to Redis and NATS with the
 * components that use them.
 * @throws ConfigError for an invalid setting; an Error if no broker answers, or if the admin port is taken
 */
export async function openContext(environment: Environment, releases: Releases) {
  const config = loadConfig(batchRunnerConfig, environment);
  const log = createLog({ service: 'batch-runner', level: config.LOG_LEVEL, format: config.LOG_FORMAT });
  const id = randomBytes(6).toString('hex');
  const name = `batch-runner-${id}`;
  const prefix = `${config.RTR_PREFIX}:`;
  const metricsRegistry = createServiceRegistry('batch-runner');
  // The admin port opens before the components that it reports on, so that the process is visible while it waits for them.
  let readHealth: (() => Promise<Readiness>) | undefined;
  if (config.ADMIN_PORT !== undefined) {
    const health = () => readHealth?.() ?? { ready: false, facts: { status: 'starting', version } };
    const admin = createAdminServer({ log, registry: metricsRegistry, health });
    await listen(admin, config.ADMIN_PORT, config.ADMIN_HOST, releases);
    log.info({ admin: admin.address() }, 'the admin port is open');
  }
  const serving = await openServing({ config, role: 'runner', id, name, log, releases });
  // Queued work starts as soon as the queues open, and needs the list of models.
  await serving.workersAnnounced;
  const ca = readCertificates('REDIS_CA', config.REDIS_CA);
  const access: BackgroundAccess = { url: config.REDIS_URL, ca, prefix, log: log.child({ part: 'background' }) };
  const jobs = new BackgroundJobs(access);
  releases.add('background jobs', () => jobs.close());
  return {
    /** Name of this process, a subject token. */
    id,
    /** The name that servers show for the connections of this process. */
    name,
    config,
    /** Prefix of all names in Redis. */
    prefix,
    log,
    releases,
    metricsRegistry,
    metrics: new RunnerMetrics(metricsRegistry),
    serving,
    access,
    jobs,
    /** The workers of the queues, which are closed together. */
    queues: new Map<BackgroundQueue, QueueWorker>(),
    heavyWork: new HeavyWork(new UnfinishedWork(serving.redis.redis, prefix, id)),
    /** Lets the admin port report the health of the process. Until then, the reported status is `starting`. */
    reportReady: (): void => {
      readHealth = async () => {
        const { areHealthy, health } = await readDependencies(serving);
        return { ready: true, facts: { status: areHealthy ? 'ok' : 'degraded', version, ...health } };
      };
    },
  };
}
