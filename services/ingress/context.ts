import { randomBytes } from 'node:crypto';
import type { Server } from 'node:http';
import { ShortOutages } from '#shared/store/redis/short-outages.ts';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { createAdminServer, type Readiness } from '#shared/core/admin-server.ts';
import { listen } from '#shared/core/listen.ts';
import { loadConfig, readCertificates, type Environment } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import { createServiceRegistry } from '#shared/core/metrics/service-registry.ts';
import type { Releases } from '#shared/core/release.ts';
import { openTracing } from '#shared/core/tracing/open-tracing.ts';
import { version } from '#shared/core/version.ts';
import type { ClientApi } from '#shared/formats/client-api.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { toolsFormat } from '#shared/formats/tools/tools-format.ts';
import { openServing } from '#shared/serving/open/open-serving.ts';
import { ingressConfig } from './config.ts';
import { ArrivingBodies, computeMaxArrivingBytes } from './http/arriving-bodies.ts';
import { readHealth } from './http/health.ts';
import { OpenRequests } from './http/open-requests.ts';
import { findAddressWarnings } from './http/trusted-proxies.ts';
import { computeUnreadBytes, UnreadOutputs } from './http/unread/unread-outputs.ts';
import { RequestMetrics } from './metrics/request-metrics.ts';
import { readCredentialsDir } from './read-credentials-dir.ts';

/** The parts that all features of an ingress share. */
export type IngressContext = Awaited<ReturnType<typeof openContext>>;

/**
 * Reads the settings, and opens what all features share: log, traces, metrics, the admin port, and the connections to Redis and NATS with
 * the components that use them.
 * @throws ConfigError for an invalid setting; an Error if no broker answers, or if the admin port is taken
 */
export async function openContext(environment: Environment, releases: Releases) {
  const config = loadConfig(ingressConfig, environment);
  const log = createLog({ service: 'ingress', level: config.LOG_LEVEL, format: config.LOG_FORMAT });
  const id = randomBytes(6).toString('hex');
  const name = `ingress-${id}`;
  const prefix = `${config.RTR_PREFIX}:`;
  for (const warning of findAddressWarnings(config)) log.warn(warning);
  const authorityFolder = readCredentialsDir(config.CREDENTIALS_DIR, config.RTR_PREFIX);
  const tracing = await openTracing({ service: 'ingress', instance: id, environment, log });
  if (tracing) releases.add('traces', () => tracing.close());
  const metricsRegistry = createServiceRegistry('ingress');
  const formatNames = [...clientFormats, toolsFormat].map((format) => format.name);
  const metrics = new RequestMetrics(metricsRegistry, formatNames);
  // The admin port opens before the components that it reports on, so that the process is visible while it waits for them.
  let reports: { health: () => Promise<Readiness>; load: () => object | undefined } | undefined;
  const admin = createAdminServer({
    log,
    registry: metricsRegistry,
    health: () => reports?.health() ?? { ready: false, facts: { status: 'starting', version } },
    otherPages: { '/load': () => reports?.load() },
  });
  await listen(admin, config.ADMIN_PORT, config.ADMIN_HOST, releases);
  const serving = await openServing({ config, role: 'ingress', id, name, log, releases });
  const ca = readCertificates('REDIS_CA', config.REDIS_CA);
  const jobs = new BackgroundJobs({ url: config.REDIS_URL, ca, prefix, log });
  releases.add('background jobs', () => jobs.close());
  const getBasePath = ({ segment, segmentSetting }: ClientApi): string =>
    `/api/${segmentSetting === undefined ? segment : config[segmentSetting]}`;
  const openRequests = new OpenRequests();
  const healthParts = { ...serving, isDraining: () => openRequests.isLeaving };
  const memory = process.constrainedMemory();
  return {
    /** Name of this process, a subject token. */
    id,
    /** The name that servers show for the connections of this process. */
    name,
    config,
    environment,
    /** Prefix of all names in Redis. */
    prefix,
    log,
    releases,
    /** Undefined if tracing is off. */
    tracing,
    metricsRegistry,
    metrics,
    /** The folder of the cluster's authority; undefined if this ingress makes no credentials. */
    authorityFolder,
    serving,
    jobs,
    readHealth: () => readHealth(healthParts),
    /**
     * Lets the admin port report the health of the process, and logs that it is ready. Until then, the reported status is `starting`.
     * @param readLoad see `computeLoad`
     */
    reportReady: (address: ReturnType<Server['address']>, readLoad: () => object | undefined): void => {
      const health = async (): Promise<Readiness> => {
        const facts = await readHealth(healthParts);
        return { ready: facts.status !== 'draining', facts };
      };
      reports = { health, load: readLoad };
      log.info({ id, version, address, admin: admin.address() }, 'ingress is ready');
    },
    /** Make requests wait for a short time while Redis restarts: for accounts and limits, and for large records. */
    outages: new ShortOutages(serving.redis),
    storedOutages: new ShortOutages(serving.storedRedis),
    openRequests,
    arrivingBodies: new ArrivingBodies(computeMaxArrivingBytes(memory)),
    unreadOutputs: new UnreadOutputs(computeUnreadBytes(memory)),
    /** Aborts when this node stops, so that clients continue their streams at another node. */
    closing: new AbortController(),
    /** Aborts when the time to drain is over and the process is about to exit. */
    ending: new AbortController(),
    /** Returns the path of an API: `/api/<segment>`. */
    getBasePath,
    /** Names and paths of the APIs. */
    apis: Array.from(new Set(clientFormats.map(({ api }) => api)), (api) => ({
      name: api.segment,
      path: getBasePath(api),
    })),
  };
}
