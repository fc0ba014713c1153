import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { Duplex } from 'node:stream';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openAccounts } from '#shared/accounts/accounts.ts';
import { connectRedis } from '#shared/accounts/redis/connect-redis.ts';
import { logUnreadable } from '#shared/accounts/redis/stored-records.ts';
import { KeyUseRecorder } from '#shared/accounts/keys/key-use-recorder.ts';
import { KeyVerifier } from '#shared/accounts/keys/key-verifier.ts';
import { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import { UsageLedger } from '#shared/accounts/ledger/usage-ledger.ts';
import { PriceTable } from '#shared/accounts/prices/price-table.ts';
import { judgePassword } from '#shared/accounts/sign-in/judge-password.ts';
import { Passwords } from '#shared/accounts/sign-in/passwords.ts';
import { connectBroker } from '#shared/broker/connection/connect-broker.ts';
import { readBrokerAccess } from '#shared/broker/connection/broker-settings.ts';
import { Dispatcher } from '#shared/broker/dispatch/dispatcher.ts';
import { LiveWorkers } from '#shared/broker/dispatch/workers/live-workers.ts';
import {
  announceKeyChange,
  announcePriceChange,
  onKeyChange,
  onPriceChange,
} from '#shared/broker/contract/change-signals.ts';
import type { RouterError } from '#shared/core/errors.ts';
import { createAdminServer, type Readiness } from '#shared/core/admin-server.ts';
import { listen } from '#shared/core/listen.ts';
import { ConfigError, loadConfig, readCertificates } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import { createServiceRegistry, watchDependencies } from '#shared/core/metrics/service-registry.ts';
import { openTracing } from '#shared/core/tracing/open-tracing.ts';
import { runService } from '#shared/core/run-service.ts';
import { version } from '#shared/core/version.ts';
import { followRegistry } from '#shared/registry/follow-registry.ts';
import { pagesFolder } from '../console/build/pages-stamp.ts';
import { LiveFeed } from '../console/live/live-feed.ts';
import { StatsBoard } from '../console/live/stats-board.ts';
import { StatsMeter } from '../console/live/stats-meter.ts';
import { servePages } from '../console/pages/serve-pages.ts';
import { createConsoleApi } from '../console/api/console-api.ts';
import { liveRoutes } from '../console/api/live-routes.ts';
import { usageParts } from '../console/api/usage/account-usage.ts';
import { usageRoutes } from '../console/api/usage/usage-routes.ts';
import { sessionIdentity } from '../console/api/session/session-identity.ts';
import { answerBrokenRequest } from './http/answer-broken-request.ts';
import { createApp } from './app.ts';
import type { ClientApi } from '#shared/formats/client-api.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { toolsFormat } from '#shared/formats/tools/tools-format.ts';
import { ingressConfig } from './config.ts';
import type { PriceOf } from '#shared/serving/estimate-amount.ts';
import { HeldBodies } from './http/held-bodies.ts';
import { readHealth } from './http/health.ts';
import { createToolsMcp } from './mcp/tools-mcp.ts';
import { loadOf } from './metrics/load.ts';
import { RequestMetrics } from './metrics/request-metrics.ts';
import { watchIngress } from './metrics/watch-ingress.ts';
import { watchQueue } from './metrics/watch-queue.ts';
import { watchWorkers } from './metrics/watch-workers.ts';
import { OpenRequests } from './http/open-requests.ts';
import { createBodyReader } from './http/read-body.ts';
import { recordRequests } from '#shared/serving/record-request.ts';

const root = join(import.meta.dirname, '..', '..');

/** Milliseconds for a request's headers to arrive. */
const headersTimeoutMs = 20_000;

/** Milliseconds between two looks for requests that do not arrive. */
const lookForSlowMs = 1_000;

/** Milliseconds without traffic after which TCP asks whether the client's machine is still there. */
const probeClientMs = 30_000;

/** Milliseconds for the last words to requests that the drain has ended. */
const lastWordsMs = 500;

const dayMs = 86_400_000;

/** Milliseconds after which nobody waits any longer for a change of a key to be announced. */
const announceWaitMs = 1_000;

/** Milliseconds that idle keep-alive connections stay open; longer than load balancers keep theirs. */
const keepAliveTimeoutMs = 75_000;

await runService(async (environment, releases) => {
  const config = loadConfig(ingressConfig, environment);
  const log = createLog({ service: 'ingress', level: config.LOG_LEVEL, format: config.LOG_FORMAT });
  const id = randomBytes(6).toString('hex');
  const { RTR_PREFIX: prefix } = config;
  // This process speaks plain HTTP, so something else must end TLS there.
  if (URL.parse(config.PUBLIC_URL ?? '')?.protocol === 'https:' && config.TRUSTED_PROXIES.length === 0)
    log.warn('PUBLIC_URL is https, but TRUSTED_PROXIES is empty: cookies lack Secure, and all clients are one address');

  const tracing = await openTracing({ service: 'ingress', instance: id, environment, log });
  if (tracing) releases.add('traces', () => tracing.close());
  const metricsRegistry = createServiceRegistry('ingress');
  const metrics = new RequestMetrics(
    metricsRegistry,
    [...clientFormats, toolsFormat].map(({ name }) => name),
  );
  // What is known only when all parts stand. The port is open before that, to be seen alive while they are waited for.
  let standing: { health: () => Promise<Readiness>; load: () => object | undefined } | undefined;
  const admin = createAdminServer({
    log,
    registry: metricsRegistry,
    health: () => standing?.health() ?? { ready: false, facts: { status: 'starting', version } },
    further: { '/load': () => standing?.load() },
  });
  await listen(admin, config.ADMIN_PORT, config.ADMIN_HOST, releases);

  const redis = connectRedis(config.REDIS_URL, {
    log,
    name: `ingress-${id}`,
    ca: readCertificates('REDIS_CA', config.REDIS_CA),
  });
  releases.add('redis', () => redis.close());
  const unreadable = logUnreadable(log);
  const accounts = openAccounts(redis.redis, `${prefix}:`, unreadable);
  const verifier = new KeyVerifier(accounts.keys);
  const uses = new KeyUseRecorder(accounts.keys, log);
  releases.add('uses of keys', () => uses.close());

  const broker = await connectBroker({ ...readBrokerAccess(config), name: `ingress-${id}`, prefix, log });
  broker.ownerAs('ingress');
  if (broker.subjects.prefix !== prefix)
    throw new ConfigError(`the credential is of the cluster ${broker.subjects.prefix}, and RTR_PREFIX says ${prefix}`);
  releases.add('broker', () => broker.close());
  onKeyChange(broker, (changed) => (changed === undefined ? verifier.markStale() : verifier.drop(changed)));
  broker.onReconnect(() => verifier.markStale());

  const workers = new LiveWorkers(broker, log);
  releases.add('workers', () => workers.close());
  const dispatcher = new Dispatcher(broker, workers, dispatchSettings(id), log);
  releases.add('dispatcher', () => dispatcher.close());
  await dispatcher.prepare();
  await workers.requestAnnouncements();

  const registry = followRegistry(config.ROUTER_CONFIG, log);
  releases.add('registry', () => registry.close());

  const held = new HeldBodies(config.MAX_HELD_BYTES, config.MAX_ACTIVE);
  const open = new OpenRequests();
  const ledger = new UsageLedger(redis.redis, `${prefix}:`, log, {
    maxRequests: config.USAGE_MAX_REQUESTS,
    requestsKeptMs: config.USAGE_DAYS * dayMs,
  });
  releases.add('usage ledger', () => ledger.close());
  const limits = new LimitKeeper(redis.redis, `${prefix}:`, log);
  releases.add('limits', () => limits.close());
  const counted: Pick<LimitKeeper, 'reserve'> = {
    reserve: async (parties, amount) => {
      const verdict = await limits.reserve(parties, amount);
      if (!verdict.granted) metrics.countLimited(verdict.error.code);
      return verdict;
    },
  };
  const prices = new PriceTable({
    redis: redis.redis,
    prefix: `${prefix}:`,
    log,
    registered: () => registry.current().prices,
    announce: () => announcePriceChange(broker),
  });
  releases.add('prices', () => prices.close());
  onPriceChange(broker, () => void prices.refresh());
  redis.redis.on('ready', () => void prices.refresh());
  await prices.refresh();
  const priceOf: PriceOf = (tier, model) => prices.priceOf(tier, model);

  watchDependencies(metricsRegistry, { nats: () => broker.roundTripMs(), redis: () => redis.roundTripMs() });
  watchQueue(metricsRegistry, () => dispatcher.jobs());
  watchWorkers(metricsRegistry, () => workers.workers());
  watchIngress(metricsRegistry, { held, open, ledger, limits });
  const countRefusal = (format: string, error: RouterError): void => metrics.countRefusal(format, error);
  const healthParts = { workers, broker, redis, isDraining: () => open.isDraining };
  const meter = new StatsMeter(() => dispatcher.jobs());
  const board = new StatsBoard(broker, id, () => meter.read());
  releases.add('stats', () => board.close());
  const feed = new LiveFeed(workers, () => board.current());
  releases.add('live feed', () => feed.close());
  const recorded = recordRequests({ log, metrics, priceOf, ledger });
  const record: typeof recorded = (request) => {
    recorded(request);
    meter.countJob(request.origin.requestId, request.origin.identity, request.report);
  };
  const mcp = createToolsMcp({ dispatcher, workers, limits: counted, record }, log);
  releases.add('MCP', () => mcp.close());
  const segmentOf = ({ segment, segmentSetting }: ClientApi): string =>
    segmentSetting === undefined ? segment : config[segmentSetting];
  const live = liveRoutes({
    accounts,
    log,
    broker,
    workers,
    registry: () => registry.current(),
    feed,
    about: {
      version,
      formats: clientFormats.map(({ name, api }) => ({ name, path: `/api/${segmentOf(api)}` })),
    },
  });
  const consoleApi = createConsoleApi({
    accounts,
    passwords: new Passwords(),
    judgePassword,
    announce,
    log,
    publicUrl: config.PUBLIC_URL,
    signedInRoutes: [
      live,
      usageRoutes(
        usageParts({ accounts, usage: new UsageReader(redis.redis, `${prefix}:`, unreadable), limits, prices, log }),
      ),
    ],
  });
  const app = createApp({
    ...healthParts,
    log,
    open,
    tracing,
    dispatcher,
    mcp,
    mcpOrigins: config.MCP_ALLOWED_ORIGINS,
    verifyKey: (rawKey) => verifier.verify(rawKey),
    verifySession: sessionIdentity(accounts.sessions),
    noteUse: (keyId) => uses.note(keyId),
    trustedProxies: config.TRUSTED_PROXIES,
    consoleApi,
    formats: clientFormats,
    segmentOf,
    readBody: createBodyReader({ maxBytes: config.MAX_BODY_BYTES, timeoutMs: config.BODY_TIMEOUT_MS }),
    registry: () => registry.current(),
    held,
    limits: counted,
    priceOf,
    record,
    countRefusal,
    publicUrl: config.PUBLIC_URL,
    pages: servePages(join(root, pagesFolder)),
  });

  const server = createServer(
    {
      keepAliveTimeout: keepAliveTimeoutMs,
      headersTimeout: Math.min(headersTimeoutMs, config.BODY_TIMEOUT_MS),
      requestTimeout: config.BODY_TIMEOUT_MS + 10_000,
      connectionsCheckingInterval: lookForSlowMs,
      keepAlive: true,
      keepAliveInitialDelay: probeClientMs,
    },
    app,
  );
  const isAnswering = (socket: Duplex): boolean => open.isAnswering(socket);
  server.on('clientError', answerBrokenRequest(clientFormats[0], { log, countRefusal, isAnswering }));
  await listen(server, config.PORT, config.HOST, releases);
  releases.add('running answers', async () => {
    log.info({ active: dispatcher.active }, 'finishing running answers');
    server.close();
    const drained = open.drain(config.DRAIN_MS);
    mcp.stopListening();
    feed.close();
    await drained;
    await dispatcher.drain(0);
    await open.drain(lastWordsMs);
  });
  standing = {
    health: async () => {
      const facts = await readHealth(healthParts);
      return { ready: facts.status !== 'draining', facts };
    },
    load: () => loadOf(board.current(), workers.workers()),
  };
  log.info({ id, version, address: server.address(), admin: admin.address() }, 'ingress is ready');

  /** The change stands already. An ingress that does not hear of it finds it when it reads the record again. */
  async function announce(changed: string): Promise<void> {
    verifier.drop(changed);
    const late = sleep(announceWaitMs, undefined, { ref: false }).then(() => new Error('the broker does not answer'));
    const failure = await Promise.race([announceKeyChange(broker, changed), late]).catch((error: unknown) => error);
    if (failure !== undefined)
      log.warn({ err: failure, changed }, 'a change of keys may be unknown elsewhere for 30 s');
  }

  function dispatchSettings(ingress: string) {
    return {
      ingress,
      timeouts: {
        queueMs: config.QUEUE_TIMEOUT_MS,
        noWorkerMs: config.NO_WORKER_TIMEOUT_MS,
        firstTokenMs: config.FIRST_TOKEN_TIMEOUT_MS,
        idleMs: config.IDLE_TIMEOUT_MS,
        totalMs: config.TOTAL_TIMEOUT_MS,
        silenceMs: config.SILENCE_TIMEOUT_MS,
      },
      queue: { maxQueued: config.MAX_QUEUED, maxAgeMs: config.QUEUE_TIMEOUT_MS },
      spillMs: config.SPILL_MS,
      keepAliveMs: config.KEEP_ALIVE_MS,
      maxAttempts: config.MAX_ATTEMPTS,
    };
  }
});
