import { randomBytes } from 'node:crypto';
import { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import { Batches, batchBounds } from '#shared/accounts/batches/batches.ts';
import { McpAccountLinkStore } from '#shared/accounts/connections/mcp-account-link-store.ts';
import type { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { AgentSessionReader } from '#shared/accounts/agent-sessions/agent-session-reader.ts';
import { agentSessionsKeptMs } from '#shared/accounts/agent-sessions/session-names.ts';
import { UsageReader } from '#shared/accounts/ledger/usage-reader.ts';
import { RefusalLedger } from '#shared/accounts/refusals/refusal-ledger.ts';
import { RefusalReader } from '#shared/accounts/refusals/refusal-reader.ts';
import type { Refusal } from '#shared/accounts/refusals/refusal-sampler.ts';
import { BackgroundResponses } from '#shared/accounts/background-responses/background-responses.ts';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { SharedEjections } from '#shared/broker/dispatch/workers/shared-ejections.ts';
import { createMcpAccountLinks } from '#shared/connections/create-mcp-account-links.ts';
import { createAdminServer, type Readiness } from '#shared/core/admin-server.ts';
import { listen } from '#shared/core/listen.ts';
import { loadConfig, readCertificates } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import { createServiceRegistry, registerDependencyGauges } from '#shared/core/metrics/service-registry.ts';
import { openTracing } from '#shared/core/tracing/open-tracing.ts';
import { runService } from '#shared/core/run-service.ts';
import { version } from '#shared/core/version.ts';
import { openWebhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import { openConsole } from '../console/open-console.ts';
import { sendContent } from './files/send-content.ts';
import { createApp } from './app.ts';
import { createClientServer } from './http/client-server.ts';
import { createClientVerifiers } from './sign-in/create-client-verifiers.ts';
import { SecondFactorStore } from '#shared/accounts/second-factor/second-factor-store.ts';
import { openOidc } from '../console/api/oidc/open-oidc.ts';
import { createDemandCheck } from '../console/api/second-factor/require-second-factor.ts';
import { createSessionIdentifier } from '../console/api/session/create-session-identifier.ts';
import type { ClientApi } from '#shared/formats/client-api.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { toolsFormat } from '#shared/formats/tools/tools-format.ts';
import { toTrustProxySetting, findAddressWarnings } from './http/trusted-proxies.ts';
import { ingressConfig } from './config.ts';
import type { PriceLookup } from '#shared/serving/estimate-amount.ts';
import { FollowerPlaces } from './http/follower-places.ts';
import { ArrivingBodies, computeMaxArrivingBytes } from './http/arriving-bodies.ts';
import { drainRequests } from './http/drain-requests.ts';
import { EventLoopLoad } from './http/event-loop-load.ts';
import { computeHeldBytes, computeMaxActive, HeldBodies } from './http/held-bodies.ts';
import type { CountRefusal } from './http/answer-error.ts';
import { readHealth } from './http/health.ts';
import { createToolsMcp } from './mcp/tools-mcp.ts';
import { createIdempotencyParts } from './idempotency/create-idempotency-parts.ts';
import { createRecordings } from './recording/create-recordings.ts';
import { computeLoad } from './metrics/compute-load.ts';
import { RequestMetrics } from './metrics/request-metrics.ts';
import { registerBackgroundMetrics } from './metrics/background-metrics.ts';
import { registerIngressMetrics } from './metrics/ingress-metrics.ts';
import { registerQueueMetrics } from './metrics/queue-metrics.ts';
import { registerWorkerMetrics } from './metrics/worker-metrics.ts';
import { OpenRequests } from './http/open-requests.ts';
import { BoundedResponse } from './http/unread/bounded-response.ts';
import { computeUnreadBytes, unreadMs, UnreadOutputs } from './http/unread/unread-outputs.ts';
import { computeMaxWaitingConnections, createPeerCheck, WaitingConnections } from './http/waiting-connections.ts';
import { createBodyReader } from './http/read-body.ts';
import { readCredentialsDir } from './read-credentials-dir.ts';
import { LinkedTools } from '#shared/serving/connected/linked-tools.ts';
import { Hedges } from '#shared/serving/hedging/hedges.ts';
import type { InputFiles } from '#shared/serving/files/inline-files.ts';
import { withOutageRetry } from '#shared/serving/stored/with-outage-retry.ts';
import { ShortOutages } from '#shared/accounts/redis/short-outages.ts';
import { AnswerStorer } from '#shared/serving/stored/answer-storer.ts';
import { registerFileMetrics } from '#shared/files/watch-files.ts';
import { openBackground } from '#shared/serving/open/open-background.ts';
import { openServing } from '#shared/serving/open/open-serving.ts';
import { createRequestRecorder } from '#shared/serving/record-request.ts';
import { createReplayListener } from '../console/api/programs/program-routes.ts';

await runService(async (environment, releases) => {
  const config = loadConfig(ingressConfig, environment);
  const log = createLog({ service: 'ingress', level: config.LOG_LEVEL, format: config.LOG_FORMAT });
  const id = randomBytes(6).toString('hex');
  const { RTR_PREFIX: prefix } = config;
  for (const warning of findAddressWarnings(config)) log.warn(warning);
  const authorityFolder = readCredentialsDir(config.CREDENTIALS_DIR, prefix);

  const tracing = await openTracing({ service: 'ingress', instance: id, environment, log });
  if (tracing) releases.add('traces', () => tracing.close());
  const metricsRegistry = createServiceRegistry('ingress');
  const metrics = new RequestMetrics(
    metricsRegistry,
    [...clientFormats, toolsFormat].map(({ name }) => name),
  );
  // The admin port opens before the components that it reports on, so that the process is visible while it waits for them.
  let reports: { health: () => Promise<Readiness>; load: () => object | undefined } | undefined;
  const admin = createAdminServer({
    log,
    registry: metricsRegistry,
    health: () => reports?.health() ?? { ready: false, facts: { status: 'starting', version } },
    otherPages: { '/load': () => reports?.load() },
  });
  await listen(admin, config.ADMIN_PORT, config.ADMIN_HOST, releases);

  const serving = await openServing({ config, role: 'ingress', id, name: `ingress-${id}`, log, releases });
  const {
    redis,
    storedRedis,
    accounts,
    store,
    writes,
    reportUnreadable,
    ownerKeys,
    storedResponses,
    broker,
    workers,
    dispatcher,
    registry,
  } = serving;
  const { files, ledger, limits, prices } = serving;
  const jobs = new BackgroundJobs({
    url: config.REDIS_URL,
    ca: readCertificates('REDIS_CA', config.REDIS_CA),
    prefix: `${prefix}:`,
    log,
  });
  releases.add('background jobs', () => jobs.close());
  const { store: backgroundStore, changes } = openBackground({ config, serving, name: `ingress-${id}`, log, releases });
  const closing = new AbortController();
  const places = new FollowerPlaces();
  const background = {
    responses: new BackgroundResponses(storedRedis.redis, `${prefix}:`, backgroundStore),
    changes,
    places,
    jobs,
    keepAliveMs: config.KEEP_ALIVE_MS,
    unreadMs,
    closing: closing.signal,
  };
  const batches = new Batches(redis.redis, `${prefix}:`, {
    bounds: batchBounds,
    report: reportUnreadable,
  });
  const outages = new ShortOutages(redis);
  const storedOutages = new ShortOutages(storedRedis);
  const clientVerifiers = createClientVerifiers({ serving, outages, prefix: `${prefix}:`, log, releases });
  const { programs, externals, announce } = clientVerifiers;
  const { secrets } = serving;
  const oidc = openOidc({
    accounts,
    externals,
    settings: () => registry.current().sign_in,
    onChange: (listener) => registry.onChange(listener),
    secrets,
    environment,
    announce,
    publicUrl: config.PUBLIC_URL,
    log,
  });
  clientVerifiers.owners.setConfirm(oidc.confirmHolder);
  programs.setConfirm(async (user) => (user.passwordHash === '' ? oidc.confirm(user) : 'confirmed'));
  const secondFactors = new SecondFactorStore(redis.redis, `${prefix}:`, { keys: ownerKeys, secrets });
  const verifySession = createSessionIdentifier(accounts.sessions, createDemandCheck({ accounts, secondFactors }));

  const load = new EventLoopLoad();
  releases.add('event loop load', () => load.close());
  const memoryBytes = process.constrainedMemory();
  const heldBodies = new HeldBodies(computeHeldBytes(memoryBytes), computeMaxActive(memoryBytes), load);
  const unreadOutputs = new UnreadOutputs(computeUnreadBytes(memoryBytes));
  const arrivingBodies = new ArrivingBodies(computeMaxArrivingBytes(memoryBytes));
  const openRequests = new OpenRequests();
  const retriedLimits: Pick<LimitKeeper, 'reserve'> = {
    // If the reply of Redis is lost, the reservation expires within a minute.
    reserve: async (parties, amount) => {
      const verdict = await outages.retry(async () => {
        store.assertIntact();
        return limits.reserve(parties, amount);
      });
      if (!verdict.granted) metrics.countLimitRefusal(verdict.error.code);
      return verdict;
    },
  };
  const findKnownRefusal: LimitKeeper['findKnownRefusal'] = (parties) => {
    const refusal = limits.findKnownRefusal(parties);
    if (refusal) metrics.countLimitRefusal(refusal.code);
    return refusal;
  };
  const priceOf: PriceLookup = (tier, model) => prices.priceOf(tier, model);

  registerDependencyGauges(metricsRegistry, {
    nats: () => broker.measureRoundTripMs(),
    redis: () => writes.measureRoundTripMs(),
  });
  registerQueueMetrics(metricsRegistry, () => dispatcher.jobs());
  registerWorkerMetrics(metricsRegistry, () => workers.workers());
  const hedges = new Hedges();
  const answers = withOutageRetry(storedResponses, storedOutages);
  const storer = new AnswerStorer(answers, log);
  registerFileMetrics(metricsRegistry, files);
  const countKeptBytes = () => dispatcher.keptBytes;
  registerIngressMetrics(metricsRegistry, {
    heldBodies,
    countKeptBytes,
    unreadOutputs,
    openRequests,
    ledger,
    limits,
    hedges,
    store,
    storer,
  });
  const webhooks = openWebhooks(redis.redis, `${prefix}:`, { keys: ownerKeys, report: reportUnreadable });
  registerBackgroundMetrics(metricsRegistry, {
    batches: () => batches.countAllOpen(),
    responses: () => background.responses.countAllOpen(),
    webhooks: () => webhooks.deliveries.countEndpoints(),
  });
  const { connections, toolLinks } = createMcpAccountLinks({
    store: new McpAccountLinkStore(redis.redis, `${prefix}:`, { keys: ownerKeys, report: reportUnreadable }),
    registry: () => registry.current(),
    environment,
    networks: config.OAUTH_NETWORKS,
    publicUrl: config.PUBLIC_URL,
    log,
    releases,
  });
  const refusals = new RefusalLedger(redis.redis, `${prefix}:`, log);
  releases.add('refusals', () => refusals.close());
  const { recorder, ...recordings } = createRecordings({
    config,
    serving,
    isTracing: tracing !== undefined,
    registry: metricsRegistry,
    log,
    releases,
  });
  const healthParts = { workers, broker, redis, store, writes, isDraining: () => openRequests.isLeaving };
  const getSegment = ({ segment, segmentSetting }: ClientApi): string =>
    segmentSetting === undefined ? segment : config[segmentSetting];
  const webConsole = openConsole({
    ingress: id,
    accounts,
    usage: new UsageReader(redis.redis, `${prefix}:`, reportUnreadable),
    sessions: new AgentSessionReader(redis.redis, `${prefix}:`, agentSessionsKeptMs, reportUnreadable),
    refusals: new RefusalReader(redis.redis, `${prefix}:`, reportUnreadable),
    limits,
    prices,
    batches: {
      batches,
      work: new BatchWork(redis.redis, `${prefix}:`, { report: reportUnreadable }),
      batchApis: [...new Set(clientFormats.map(({ api }) => api))].flatMap(({ segment, batches: shape }) =>
        shape ? [segment] : [],
      ),
    },
    files: {
      files,
      sendFile: (request, response, file) =>
        sendContent(request, response, file, { files, unreadOutputs, bodyTimeoutMs: config.BODY_TIMEOUT_MS }),
    },
    background: jobs,
    authority: authorityFolder === undefined ? undefined : { folder: authorityFolder, natsUrl: config.NATS_URL },
    connections,
    webhooks,
    broker,
    workers,
    ejections: new SharedEjections(workers),
    dispatcher,
    registry,
    announce,
    programs,
    oidc,
    secondFactors,
    recordings,
    publicUrl: config.PUBLIC_URL,
    routerFacts: {
      version,
      formats: clientFormats.map(({ name, api }) => ({ name, path: `/api/${getSegment(api)}` })),
      needsCredentials: config.NATS_CREDENTIALS !== undefined,
    },
    openOutput: (response) => new BoundedResponse(response, unreadOutputs, () => response.destroy()),
    log,
    releases,
  });
  const onRefusal = (refusal: Refusal): void => {
    webConsole.meter.countRefusal(refusal.error.code);
    refusals.add(refusal);
  };
  const countRefusal: CountRefusal = (refused) => {
    metrics.countRefusal(refused.format, refused.error);
    // A client sends the same request again over HTTP after a refused upgrade. Only the second request is counted.
    if (refused.error.code !== 'upgrade_refused') onRefusal(refused);
  };
  const recordFinished = createRequestRecorder({ log, metrics, priceOf, ledger, onRefusal });
  const record: typeof recordFinished = (request) => {
    recordFinished(request);
    webConsole.meter.countJob(request.origin.requestId, request.origin.identity, request.report);
  };
  const filesThroughOutages: InputFiles['files'] = {
    find: (...args) => storedOutages.retry(() => files.find(...args)),
    read: (...args) => files.read(...args),
  };
  const noWorkerMs = config.NO_WORKER_TIMEOUT_MS;
  const toolParts = { dispatcher, workers, limits: retriedLimits, noWorkerMs, record };
  const linkedTools = new LinkedTools(toolLinks, toolParts);
  const mcp = createToolsMcp({ ...toolParts, personalTools: linkedTools, countRefusal }, unreadOutputs, log);
  releases.add('MCP', () => mcp.close());
  const ending = new AbortController();
  const idempotency = createIdempotencyParts({
    config,
    serving,
    outages: storedOutages,
    changes,
    limits: retriedLimits,
    findKnownRefusal,
    places,
    unreadOutputs,
    openRequests,
    closing: ending.signal,
    registry: metricsRegistry,
    log,
    releases,
  });
  const { app, directRoutes } = createApp({
    ...healthParts,
    log,
    openRequests,
    isEnding: () => ending.signal.aborted,
    tracing,
    dispatcher,
    mcp,
    corsOrigins: config.CORS_ORIGINS,
    verifyKey: clientVerifiers.verifyKey,
    verifySession: (request) => outages.retry(() => verifySession(request)),
    noteUse: clientVerifiers.noteUse,
    signIn: {
      programs,
      announce,
      noteReplay: createReplayListener({ accounts, log }),
      store,
      publicUrl: config.PUBLIC_URL,
      bodyTimeoutMs: config.BODY_TIMEOUT_MS,
      arrivingBodies,
      log,
    },
    trustedProxies: toTrustProxySetting(config.TRUSTED_PROXIES),
    consoleApi: webConsole.api,
    adminApi: webConsole.adminApi,
    arrivingBodies,
    formats: clientFormats,
    getSegment,
    readBody: createBodyReader({ maxBytes: config.MAX_BODY_BYTES, timeoutMs: config.BODY_TIMEOUT_MS }),
    registry: () => registry.current(),
    heldBodies,
    unreadOutputs,
    findKnownRefusal,
    limits: retriedLimits,
    priceOf,
    hedges,
    ownerKeys,
    personalTools: linkedTools,
    noWorkerMs,
    answers: {
      responses: answers,
      storesAnswers: config.RESPONSES_KEEP_HOURS > 0,
      assertIntact: () => store.assertIntact(),
    },
    storer,
    recorder,
    files,
    inputFiles: { files: filesThroughOutages, maxBytes: config.MAX_BODY_BYTES, store },
    bodyTimeoutMs: config.BODY_TIMEOUT_MS,
    batches,
    jobs,
    background,
    idempotency,
    maxLineBytes: config.MAX_BODY_BYTES,
    record,
    countRefusal,
    speedOf: (model) => metrics.speeds.find(model),
    publicUrl: config.PUBLIC_URL,
    pages: webConsole.pages,
  });

  const server = createClientServer(app, {
    log,
    openRequests,
    countRefusal,
    bodyTimeoutMs: config.BODY_TIMEOUT_MS,
    directRoutes,
    waitingConnections: new WaitingConnections(
      computeMaxWaitingConnections(memoryBytes),
      createPeerCheck(config.TRUSTED_PROXIES),
    ),
  });
  await serving.workersAnnounced;
  await listen(server, config.PORT, config.HOST, releases);
  releases.add('running answers', () =>
    drainRequests({
      openRequests,
      server,
      dispatcher,
      leaveMs: config.LEAVE_MS,
      drainMs: config.DRAIN_MS,
      onClosed: () => {
        // The clients of these streams continue at another node.
        closing.abort();
        mcp.stopListening();
        webConsole.feed.close();
      },
      onEnding: () => ending.abort(),
      log,
    }),
  );
  reports = {
    health: async () => {
      const facts = await readHealth(healthParts);
      return { ready: facts.status !== 'draining', facts };
    },
    load: () => computeLoad(webConsole.board.listCurrent(), workers.workers()),
  };
  log.info({ id, version, address: server.address(), admin: admin.address() }, 'ingress is ready');
});
