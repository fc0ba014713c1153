import { randomBytes } from 'node:crypto';
import { AlertMails } from '#shared/accounts/alert-mails/alert-mails.ts';
import { batchBounds } from '#shared/accounts/batches/batches.ts';
import { BatchWork } from '#shared/accounts/batches/batch-work.ts';
import type { LimitKeeper } from '#shared/accounts/limits/limit-keeper.ts';
import { UnfinishedWork } from '#shared/accounts/redis/unfinished-work.ts';
import { openWebhooks } from '#shared/accounts/webhooks/open-webhooks.ts';
import type { BackgroundQueue } from '#shared/background/background-job.ts';
import { BackgroundJobs } from '#shared/background/background-jobs.ts';
import { BackgroundWorker, type QueueWorker } from '#shared/background/background-worker.ts';
import { onKeyChange } from '#shared/broker/contract/change-signals.ts';
import { LiveTicketWatcher } from '#shared/broker/dispatch/queue/live-ticket-watcher.ts';
import { createAdminServer, type Readiness } from '#shared/core/admin-server.ts';
import { listen } from '#shared/core/listen.ts';
import { loadConfig, readCertificates } from '#shared/core/load-config.ts';
import { createLog } from '#shared/core/log.ts';
import { createServiceRegistry, registerDependencyGauges } from '#shared/core/metrics/service-registry.ts';
import { runService } from '#shared/core/run-service.ts';
import { registerFileMetrics } from '#shared/files/watch-files.ts';
import { version } from '#shared/core/version.ts';
import { clientFormats } from '#shared/formats/client-formats.ts';
import { Hedges } from '#shared/serving/hedging/hedges.ts';
import { readDependencies } from '#shared/serving/open/read-dependencies.ts';
import { openServing } from '#shared/serving/open/open-serving.ts';
import { AnswerStorer } from '#shared/serving/stored/answer-storer.ts';
import type { BatchJob, SliceJob } from '#shared/background/batch-jobs.ts';
import { finishBatch } from './batches/finish-batch.ts';
import { runSlice } from './batches/run-slice.ts';
import { validateBatch } from './batches/validate-batch.ts';
import { batchRunnerConfig } from './config.ts';
import { BackgroundIdentities } from './lines/background-identities.ts';
import { AnswerBudget, computeAnswerBudget } from './answer-memory.ts';
import { RefusedLines } from './lines/refused-lines.ts';
import { scalePrices } from './lines/scale-prices.ts';
import { startResponses } from './responses/start-responses.ts';
import { RunningLines } from './batches/running-lines.ts';
import { ParkedBatches } from './slots/parked-batches.ts';
import { LineSlots } from './slots/line-slots.ts';
import { HeavyWork } from './heavy-work.ts';
import { createScheduledTasks } from './scheduled/create-scheduled-tasks.ts';
import { startScheduled } from './scheduled/start-scheduled.ts';
import { ModelBreakers } from './slots/model-breakers.ts';
import { WaitingWork } from './slots/waiting-work.ts';
import { RunnerMetrics, registerRunnerGauges } from './runner-metrics.ts';
import { computeRequestBudget, RequestBudget } from './request-memory.ts';
import { startMails } from './mail/start-mails.ts';
import { startWebhooks } from './webhooks/start-webhooks.ts';

/** Largest number of concurrent validations, and of concurrent endings. Both stream files and wait for the store. */
const filesAtOnce = 2;

/** Largest number of concurrent slices of batches, of up to 100 requests each, and of requests of batches, however many slots are free. */
const [slicesAtOnce, maxLines] = [8, 256];

/** Milliseconds for which a slot is left to live requests after one of them has taken it from a batch. */
const yieldMs = 10_000;

/** Maximum number of executions of a request if each of them ends with an error of the request itself. */
const maxTries = 3;

await runService(async (environment, releases) => {
  const config = loadConfig(batchRunnerConfig, environment);
  const log = createLog({ service: 'batch-runner', level: config.LOG_LEVEL, format: config.LOG_FORMAT });
  const id = randomBytes(6).toString('hex');
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

  const serving = await openServing({ config, role: 'runner', id, name: `batch-runner-${id}`, log, releases });
  const {
    redis,
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
  const { ledger, limits, prices, files, objects } = serving;
  // Queued work starts as soon as the queues open, and needs the list of models.
  await serving.workersAnnounced;
  const access = {
    url: config.REDIS_URL,
    ca: readCertificates('REDIS_CA', config.REDIS_CA),
    prefix,
    log: log.child({ part: 'background' }),
  };
  const jobs = new BackgroundJobs(access);
  releases.add('background jobs', () => jobs.close());
  const batches = new BatchWork(redis.redis, prefix, { report: reportUnreadable });
  const slots = new LineSlots({ dispatcher, maxLines, yieldMs });
  workers.onChange(() => slots.notifyChange());
  const tickets = new LiveTicketWatcher({ broker, workers, onWaiting: (pool) => slots.makeRoom(pool) });
  releases.add('live tickets', () => tickets.close());
  const waitingWork = new WaitingWork(broker, id, dispatcher);
  releases.add('waiting work', () => waitingWork.close());
  const { keys, users, teams } = accounts;
  const identitySources = { keys, users, teams, issuers: () => registry.current().token_issuers };
  const identities = new BackgroundIdentities({ ...identitySources, class: 'low' });
  const requesterIdentities = new BackgroundIdentities({ ...identitySources, class: undefined });
  onKeyChange(broker, () => {
    identities.markStale();
    requesterIdentities.markStale();
  });
  const guardedLimits: Pick<LimitKeeper, 'reserve'> = {
    reserve: (parties, amount) => {
      store.assertIntact();
      return limits.reserve(parties, amount);
    },
  };
  const priceOf = scalePrices((tier, model) => prices.priceOf(tier, model), config.BATCH_PRICE_FACTOR);
  const metrics = new RunnerMetrics(metricsRegistry);
  const stopping = new AbortController();
  const heavyWork = new HeavyWork(new UnfinishedWork(redis.redis, prefix, id));
  const requestBudget = new RequestBudget(computeRequestBudget(config.MAX_BODY_BYTES, process.constrainedMemory()));
  const answerBudget = new AnswerBudget(computeAnswerBudget(process.constrainedMemory()));
  const batchDependencies = {
    batches,
    jobs,
    objects,
    files,
    formats: clientFormats,
    isKnownModel: (model: string | undefined) => model !== undefined && workers.isKnownModel(model),
    resultsKeptMs: batchBounds.keepMs,
    maxLineBytes: config.MAX_BODY_BYTES,
    heavyWork,
    log,
  };
  const lineServing = {
    dispatcher,
    workers,
    registry: () => registry.current(),
    limits: guardedLimits,
    hedges: new Hedges(),
    ownerKeys,
    noWorkerMs: config.NO_WORKER_TIMEOUT_MS,
    answers: {
      responses: storedResponses,
      storesAnswers: config.RESPONSES_KEEP_HOURS > 0,
      assertIntact: () => store.assertIntact(),
    },
    inputFiles: { files, maxBytes: config.MAX_BODY_BYTES, store },
  };
  const parked = new ParkedBatches({ batches, jobs, slots, waitingWork, atOnce: slicesAtOnce, log });
  releases.add('parked batches', () => parked.close());
  const sliceParts = {
    ...batchDependencies,
    parked,
    runningLines: new RunningLines(),
    identities,
    ledger,
    ownerKeys,
    stopping: stopping.signal,
    countLine: metrics.countLine.bind(metrics),
    lineParts: {
      ...lineServing,
      priceOf,
      slots,
      breakers: new ModelBreakers(),
      refusedLines: new RefusedLines(),
      waitingWork,
      storer: new AnswerStorer(storedResponses, log),
      requestBudget,
      answerBudget,
      maxTries,
      log,
    },
  };
  const validations = { access, queue: 'batch-validations', concurrency: filesAtOnce } as const;
  const endings = { access, queue: 'batch-endings', concurrency: filesAtOnce } as const;
  const queues = new Map<BackgroundQueue, QueueWorker>([
    [
      'batch-validations',
      new BackgroundWorker<BatchJob>({ ...validations, handle: (job) => validateBatch(batchDependencies, job) }),
    ],
    [
      'batch-slices',
      new BackgroundWorker<SliceJob>({
        access,
        queue: 'batch-slices',
        concurrency: slicesAtOnce,
        handle: (job) => runSlice(sliceParts, job),
      }),
    ],
    [
      'batch-endings',
      new BackgroundWorker<BatchJob>({ ...endings, handle: (job) => finishBatch(batchDependencies, job) }),
    ],
  ]);
  releases.add('background work', async () => {
    stopping.abort();
    await Promise.all(Array.from(queues.values(), (worker) => worker.close()));
  });
  const webhooks = openWebhooks(redis.redis, prefix, { keys: ownerKeys, report: reportUnreadable });
  const { WEBHOOK_NETWORKS: networks } = config;
  queues.set('webhooks', startWebhooks({ webhooks, access, jobs, networks, registry: metricsRegistry, log, releases }));
  const mails = new AlertMails(redis.redis, prefix, reportUnreadable);
  const mailWorker = startMails({ config, mails, access, jobs, registry: metricsRegistry, log, releases });
  if (mailWorker) queues.set('alert-mails', mailWorker);
  const responses = startResponses({
    config,
    name: `batch-runner-${id}`,
    stores: serving,
    access,
    jobs,
    log,
    releases,
    formats: clientFormats,
    identities: requesterIdentities,
    heavyWork,
    serving: { ...lineServing, requestBudget, answerBudget, priceOf: (tier, model) => prices.priceOf(tier, model) },
    maxTries,
    countResponse: metrics.countResponse.bind(metrics),
  });
  queues.set('responses', responses);
  const scheduled = createScheduledTasks(serving, {
    config,
    prefix,
    batches,
    jobs,
    webhooks,
    countSwept: metrics.countSwept.bind(metrics),
    log,
    releases,
  });
  queues.set('scheduled', startScheduled({ access, jobs, tasks: scheduled, log, releases }));
  registerDependencyGauges(metricsRegistry, {
    nats: () => broker.measureRoundTripMs(),
    redis: () => writes.measureRoundTripMs(),
  });
  registerFileMetrics(metricsRegistry, files);
  registerRunnerGauges(metricsRegistry, { jobs, batches, slots, workers: queues });
  readHealth = async () => {
    const { areHealthy, health } = await readDependencies({ broker, redis, store, writes });
    return { ready: true, facts: { status: areHealthy ? 'ok' : 'degraded', version, ...health } };
  };
  log.info({ id, version }, 'batch-runner is ready');
});
