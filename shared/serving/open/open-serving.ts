import { openAccounts, type Accounts } from '#shared/accounts/accounts.ts';
import { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { LostStoreDetector } from '#shared/accounts/keys/lost-store-watch.ts';
import { PriceTable } from '#shared/accounts/prices/price-table.ts';
import { connectRedis, type RedisConnection } from '#shared/store/redis/connect-redis.ts';
import { logUnreadable, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { WriteWatch } from '#shared/store/redis/write-watch.ts';
import { ClusterSecret } from '#shared/store/secrets/cluster-secret.ts';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { computeStoredBounds } from '#shared/store/stored-bounds.ts';
import { StoredResponses } from '#shared/accounts/responses/stored/stored-responses.ts';
import { readBrokerAccess } from '#shared/broker/connection/broker-settings.ts';
import { connectBroker, type Broker } from '#shared/broker/connection/connect-broker.ts';
import type { Role } from '#shared/broker/connection/credential.ts';
import { announceInTime, announcePriceChange, onPriceChange } from '#shared/broker/contract/change-signals.ts';
import { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import { ConfigError, readCertificates } from '#shared/core/load-config.ts';
import type { Logger } from '#shared/core/log.ts';
import type { Files } from '#shared/files/files.ts';
import type { ObjectStore } from '#shared/files/object-store.ts';
import type { Releases } from '#shared/core/release.ts';
import { openRegistry, type OpenRegistry } from './open-registry.ts';
import { openServingFiles } from './open-serving-files.ts';
import { toDispatchSettings, type ServingConfig } from './serving-settings.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

export interface OpenServingOptions {
  config: ServingConfig;
  /** The role that the process's broker credential must have. */
  role: Role;
  /** The name of this process, a subject token. */
  id: string;
  /** The name that servers show for the connections of this process. */
  name: string;
  log: Logger;
  releases: Releases;
}

/** The connections of a process that serves requests, and the components that use them. */
export interface ServingResources {
  redis: RedisConnection;
  /** A separate connection for large records, which may have megabytes. */
  storedRedis: RedisConnection;
  accounts: Accounts;
  store: LostStoreDetector;
  writes: WriteWatch;
  reportUnreadable: ReportUnreadable;
  ownerKeys: OwnerKeys;
  /** The secrets of the cluster, newest first; empty while they are not known. */
  secrets: () => readonly Uint8Array[];
  storedResponses: StoredResponses;
  files: Files;
  /** The object store of the files, for objects that are not files. */
  objects: ObjectStore;
  broker: Broker;
  workers: LiveWorkers;
  /** Resolves after the time that workers need to announce themselves. Never rejects. */
  workersAnnounced: Promise<void>;
  dispatcher: Dispatcher;
  registry: OpenRegistry;
  ledger: UsageLedger;
  limits: LimitKeeper;
  prices: PriceTable;
}

const firstConnectMs = 1_000;

/**
 * Connects to Redis and NATS, and opens the components that serve requests: accounts, limits, ledger, prices, registry, workers and
 * dispatcher. Registers the release of each component.
 * @throws ConfigError for an invalid URL, file or credential; an Error if no broker answers
 */
export async function openServing(options: OpenServingOptions): Promise<ServingResources> {
  const { config, role, id, name, log, releases } = options;
  const prefix = `${config.RTR_PREFIX}:`;
  const ca = readCertificates('REDIS_CA', config.REDIS_CA);
  const redis = connectRedis(config.REDIS_URL, { log, name, ca });
  releases.add('redis', () => redis.close());
  // Keys and limits must not wait for a response or a list of files, which may have megabytes.
  const storedRedis = connectRedis(config.REDIS_URL, {
    log: log.child({ connection: 'stored responses' }),
    name: `${name}-responses`,
    ca,
  });
  releases.add('redis for stored records', () => storedRedis.close());
  const reportUnreadable = logUnreadable(log);
  const accounts = openAccounts(redis.redis, prefix, reportUnreadable);
  const store = new LostStoreDetector(accounts.storeMarker, log);
  releases.add('store watch', () => store.close());
  const writes = new WriteWatch(redis, prefix, log);
  releases.add('write watch', () => writes.close());
  const secret = new ClusterSecret(redis.redis, prefix, config.SEAL_SECRET);
  releases.add('cluster secret', () => secret.close());
  const secrets = () => secret.secrets;
  const ownerKeys = new OwnerKeys(secrets);
  const bounds = {
    keepMs: config.RESPONSES_KEEP_HOURS * hourMs,
    ...computeStoredBounds('responses', config),
    historyBytes: config.MAX_BODY_BYTES,
  };
  const storedResponses = new StoredResponses(storedRedis.redis, prefix, {
    bounds,
    keys: ownerKeys,
    report: reportUnreadable,
  });

  const broker = await connectBrokerAs(role, options);
  const workers = new LiveWorkers(broker, log);
  releases.add('workers', () => workers.close());
  const dispatcher = new Dispatcher(broker, workers, toDispatchSettings(config, id), log);
  releases.add('dispatcher', () => dispatcher.close());
  await dispatcher.prepare();
  const workersAnnounced = workers.requestAnnouncements();

  const { files, objects } = await openServingFiles(options, storedRedis, reportUnreadable);

  // If Redis is available, the registry and the prices are loaded before the first request. Otherwise, the connection logs the failure.
  await redis.whenReady(AbortSignal.timeout(firstConnectMs)).catch(() => undefined);
  const registry = await openRegistry({
    file: config.ROUTER_CONFIG,
    versions: accounts.registryVersions,
    broker,
    redis: redis.redis,
    log,
  });
  releases.add('registry', () => registry.close());
  const permitModels = (): void => workers.setCredentialEntries(registry.current().credentials);
  registry.onChange(permitModels);
  permitModels();
  const ledger = new UsageLedger(redis.redis, prefix, log, {
    maxRequests: config.USAGE_MAX_REQUESTS,
    requestsKeptMs: config.USAGE_DAYS * dayMs,
  });
  releases.add('usage ledger', () => ledger.close());
  const limits = new LimitKeeper(redis.redis, prefix, log);
  releases.add('limits', () => limits.close());
  const prices = new PriceTable({
    redis: redis.redis,
    prefix,
    log,
    registeredPrices: () => registry.current().prices,
    announce: async () => {
      const failure = await announceInTime(announcePriceChange(broker));
      if (failure !== undefined) log.warn({ err: failure }, 'other nodes may not know of a changed price for 30 s');
    },
  });
  releases.add('prices', () => prices.close());
  onPriceChange(broker, () => void prices.refresh());
  redis.redis.on('ready', () => void prices.refresh());
  await prices.refresh();
  const storage = {
    redis,
    storedRedis,
    accounts,
    store,
    writes,
    reportUnreadable,
    ownerKeys,
    secrets,
    storedResponses,
    files,
    objects,
  };
  return { ...storage, broker, workers, workersAnnounced, dispatcher, registry, ledger, limits, prices };
}

async function connectBrokerAs(role: Role, { config, name, log, releases }: OpenServingOptions): Promise<Broker> {
  const { RTR_PREFIX: prefix } = config;
  const broker = await connectBroker({ ...readBrokerAccess(config), name, prefix, log });
  releases.add('broker', () => broker.close());
  broker.requireCredentialName(role);
  if (broker.subjects.prefix === prefix) return broker;
  throw new ConfigError(`the credential belongs to the cluster ${broker.subjects.prefix}, but RTR_PREFIX is ${prefix}`);
}
